"""Drives a simulated router with the librouteros client: its whole public interface, step by step.

Usage: librouteros_check.py PORT LOGIN(plain|token) MAJOR. Prints one line per step; the first wrong one ends it.
"""
import sys

from librouteros import connect
from librouteros.exceptions import FatalError, MultiTrapError, TrapError, ConnectionClosed
from librouteros.login import plain, token
from librouteros.query import And, Key, Or

port, method, major = int(sys.argv[1]), {'plain': plain, 'token': token}[sys.argv[2]], int(sys.argv[3])


def dial(**changes):
    settings = dict(host='127.0.0.1', port=port, username='admin', password='secret', login_method=method, encoding='utf-8')
    settings.update(changes)
    return connect(**settings)


def expect(step, actual, wanted):
    if actual != wanted:
        raise SystemExit(f'{step}: {actual!r} instead of {wanted!r}')
    print(f'ok {step}')


def trap_of(run):
    try:
        run()
    except (TrapError, MultiTrapError) as error:
        return str(error)
    return None


# Login
wrong = trap_of(lambda: dial(password='wrong'))
expect('wrong password', wrong, 'cannot log in' if method is token else 'invalid user name or password (6)')
api = dial()

# Path, iteration, call
addresses = api.path('ip', 'address')
expect('path', str(addresses), '/ip/address')
expect('join', str(api.path('/ip').join('firewall', 'nat')), '/ip/firewall/nat')
rows = tuple(addresses)
expect('iterate', [row['address'] for row in rows], ['192.168.88.1/24', '203.0.113.2/30'])
expect('cast of booleans', rows[0]['disabled'], False)
# Only read here: this client counts letters, not bytes, in the words it sends.
expect('utf-8', [row['name'] for row in api('/system/identity/print')], ['láb'])

# add, update, remove
new = addresses.add(address='10.77.0.1/24', interface='ether2', comment='a = b', disabled=True)
expect('add gives an id', new.startswith('*'), True)
expect('add keeps equals signs', [row['comment'] for row in addresses if row['.id'] == new], ['a = b'])
addresses.update(**{'.id': new, 'disabled': False, 'comment': 'x' * 70000})
expect('a word of 70,000 bytes', [len(row['comment']) for row in addresses if row['.id'] == new], [70000])
second = addresses.add(address='10.78.0.1/24', interface='ether2')
addresses.remove(new, second)
expect('remove several', [row['.id'] for row in addresses if row['.id'] in (new, second)], [])

# Queries
name, kind, mtu, disabled = Key('name'), Key('type'), Key('mtu'), Key('disabled')
interfaces = api.path('interface')


def names(*query):
    return [row['name'] for row in interfaces.select(name, kind).where(*query)]


expect('select', sorted(next(iter(interfaces.select(name, kind)))), ['name', 'type'])
expect('equal', names(name == 'ether2'), ['ether2'])
expect('not equal', names(kind != 'ether'), ['bridge'])
expect('less', names(mtu < 1), [])
expect('greater', len(names(mtu > 1000)) > 3, True)
expect('boolean', names(disabled == True), [])
expect('in', names(name.In('ether1', 'bridge', 'nope')), ['ether1', 'bridge'])
expect('or', names(Or(name == 'ether1', name == 'ether3', kind == 'bridge')), ['ether1', 'ether3', 'bridge'])
expect('and', names(And(kind == 'ether', name == 'ether1', disabled == False)), ['ether1'])
expect('and of or', names(And(Or(name == 'ether1', name == 'bridge'), kind == 'ether')), ['ether1'])
expect('two words', names(kind == 'ether', name == 'ether4'), ['ether4'])
expect('nothing', list(api.path('ip', 'dns', 'static')), [])

# Raw commands and presence flags
raw = list(api.rawCmd('/interface/print', '?type=bridge', '=.proplist=name,type'))
expect('raw', raw, [{'name': 'bridge', 'type': 'bridge'}])
expect('count-only', list(api.rawCmd('/interface/print', '=count-only=', '?type=bridge')), [{'ret': 1}])

# Errors
expect('trap', trap_of(lambda: addresses.add(address='10.0.0.1/24', interface='nope')), 'input does not match any value of interface')
expect('no such command', trap_of(lambda: list(addresses('frob'))), 'no such command')
both = 'no such command or directory (frob), no such command prefix' if major >= 7 else 'no such command prefix'
expect('no such directory', trap_of(lambda: list(api('/frob/print'))), both)
expect('no such item', trap_of(lambda: addresses.remove('*FFFF')), 'no such item')
expect('goes on after a trap', [row['name'] for row in api.path('system', 'identity')], ['láb'])

# Scripts
scripts = api.path('system', 'script')
script = scripts.add(name='hello', source='/system identity set name=changed')
list(scripts('run', **{'.id': script}))
expect('script ran', [row['name'] for row in api('/system/identity/print')], ['changed'])

# Goodbye
try:
    list(api('/quit'))
    raise SystemExit('/quit: no !fatal')
except FatalError as error:
    expect('quit', str(error), 'session terminated on request')
api.close()
