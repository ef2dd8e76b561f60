import { networkOf, parsePrefix } from '../../addresses.ts';
import type { RouterState } from '../../state.ts';
import type { MenuDefinition, ProposedChange } from '../definition.ts';
import type { Item } from '../table.ts';
import { FLAGS, comment, counter, disabled, fixed, readOnly } from './parts.ts';

/** The network follows from the address unless it is given. */
function completeAddress({ values, given, item }: ProposedChange): void {
  if (given.has('.remove') || (item && !given.has('address') && !given.has('netmask'))) return;
  const prefix = parsePrefix(values.get('address') ?? '');
  if (prefix && !given.has('network')) values.set('network', networkOf(prefix));
  values.delete('netmask');
}

function actualInterface(router: RouterState, item: Item): [string, string | undefined][] {
  const name = item.values.get('interface') ?? '';
  const known = router.table('/interface').find('name', name);
  const bridge = router.table('/interface/bridge/port').find('interface', name)?.values.get('bridge');
  return [['actual-interface', bridge ?? name], ['invalid', String(!known)]];
}

const routeDefaults = { distance: fixed('1'), scope: fixed('30'), 'target-scope': fixed('10') };

export const ADDRESS_MENUS: readonly MenuDefinition[] = [
  {
    path: '/ip/address', noun: 'address', nameProperty: 'address', check: completeAddress, compute: actualInterface,
    unique: { properties: ['address', 'interface'], message: 'failure: already have such address' },
    properties: {
      address: { type: 'prefix', required: true }, network: { type: 'ip' }, interface: { type: 'interface', required: true },
      netmask: { type: 'ip', writeOnly: true }, broadcast: { type: 'ip', writeOnly: true }, 'actual-interface': readOnly, ...FLAGS,
    },
  },
  {
    path: '/ip/route', since: '7.0', noun: 'route', nameProperty: 'dst-address',
    properties: {
      'dst-address': { type: 'prefix', default: '0.0.0.0/0' }, 'routing-table': fixed('main'), 'pref-src': { type: 'ip' }, gateway: { required: true },
      'immediate-gw': readOnly, ...routeDefaults, 'local-address': readOnly, dynamic: readOnly, inactive: readOnly, active: readOnly,
      connect: readOnly, static: readOnly, disabled, comment,
    },
  },
  {
    path: '/ip/route', until: '7.0', noun: 'route', nameProperty: 'dst-address',
    properties: {
      'dst-address': { type: 'prefix', default: '0.0.0.0/0' }, 'pref-src': { type: 'ip' }, gateway: { required: true }, 'gateway-status': readOnly,
      ...routeDefaults, active: readOnly, static: readOnly, connect: readOnly, dynamic: readOnly, disabled, comment,
    },
  },
  {
    path: '/ip/pool', noun: 'pool', unique: { properties: ['name'], message: 'failure: pool with such name exists' },
    properties: { name: { required: true }, ranges: { required: true }, 'next-pool': {}, comment: { since: '7.0' } },
  },
  {
    path: '/ip/arp', noun: 'arp', nameProperty: 'address', removableDynamic: true,
    properties: {
      address: { type: 'ip', required: true }, 'mac-address': { type: 'mac' }, interface: { type: 'interface', required: true },
      published: { type: 'bool', default: 'false' }, status: { readOnly: true, since: '7.0' }, invalid: readOnly, DHCP: { readOnly: true, default: 'false' },
      dynamic: readOnly, complete: { readOnly: true, default: 'true' }, disabled, comment,
    },
  },
  {
    path: '/ip/dns', single: true,
    properties: {
      servers: fixed(''), 'dynamic-servers': { readOnly: true, default: '' }, 'allow-remote-requests': { type: 'bool', default: 'false' },
      'max-udp-packet-size': fixed('4096'), 'cache-size': fixed('2048'), 'cache-max-ttl': fixed('1w'), 'cache-used': counter,
    },
  },
  {
    path: '/ip/dns/static', noun: 'dns entry',
    properties: { name: {}, address: { type: 'ip' }, ttl: fixed('1d'), ...FLAGS },
  },
  {
    path: '/ip/neighbor', noExport: true, volatile: true, without: ['add', 'set', 'remove', 'unset'],
    properties: {
      interface: readOnly, address: readOnly, address4: { readOnly: true, since: '6.45' }, 'mac-address': readOnly, identity: readOnly,
      platform: readOnly, version: readOnly, unpack: readOnly, age: readOnly, uptime: readOnly, 'software-id': readOnly, board: readOnly,
      'interface-name': readOnly, 'system-description': readOnly, 'system-caps': readOnly, 'system-caps-enabled': readOnly,
    },
  },
];
