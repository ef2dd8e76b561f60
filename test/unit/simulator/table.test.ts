import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let router: Simulator;
let client: RawClient;

beforeEach(async () => {
  router = await startSimulator({ sshPort: null });
  client = await RawClient.login(router.apiPort);
});

afterEach(async () => {
  client.socket.destroy();
  await router.close();
});

const refusal = async (...words: string[]): Promise<string[] | undefined> =>
  (await client.talk(...words)).find(([word]) => word === '!trap')?.slice(1);

describe('items', () => {
  it('get ids that are never given out again', async () => {
    const first = await client.ret('/ip/pool/add', '=name=a', '=ranges=10.0.0.1-10.0.0.9');
    await client.talk('/ip/pool/remove', `=.id=${first}`);
    const second = await client.ret('/ip/pool/add', '=name=a', '=ranges=10.0.0.1-10.0.0.9');
    expect(first).toMatch(/^\*[0-9A-F]+$/);
    expect(second).not.toBe(first);
    expect(await client.talk('/ip/pool/set', `=.id=${first}`, '=name=b')).toEqual([
      ['!trap', '=category=0', '=message=no such item'],
      ['!done'],
    ]);
  });

  it('are found by name as well, and several at once', async () => {
    await client.talk('/interface/ethernet/set', '=.id=ether3', '=comment=printer');
    expect(await client.rows('/interface/print', '?comment=printer', '=.proplist=name')).toEqual([{ name: 'ether3' }]);
    await client.talk('/interface/disable', '=.id=ether3,ether4');
    expect(await client.rows('/interface/print', '?disabled=true', '=.proplist=name,running')).toEqual([
      { name: 'ether3', running: 'false' },
      { name: 'ether4', running: 'false' },
    ]);
    await client.talk('/interface/enable', '=numbers=*3,*4');
    expect(await client.rows('/interface/print', '?disabled=true')).toEqual([]);
  });

  it('lose a value by unset, and a comment by an empty one', async () => {
    const id = await client.ret('/ip/firewall/nat/add', '=chain=dstnat', '=action=accept', '=protocol=udp', '=dst-port=53', '=comment=x');
    await client.talk('/ip/firewall/nat/unset', `=.id=${id}`, '=value-name=dst-port');
    await client.talk('/ip/firewall/nat/comment', `=.id=${id}`, '=comment=');
    const [rule] = await client.rows('/ip/firewall/nat/print', `?.id=${id}`);
    expect(rule).toMatchObject({ protocol: 'udp', disabled: 'false', dynamic: 'false' });
    expect(Object.keys(rule ?? {})).not.toEqual(expect.arrayContaining(['dst-port', 'comment']));
  });

  it('lose a value by an exclamation mark as well', async () => {
    const id = await client.ret('/ip/firewall/nat/add', '=chain=srcnat', '=action=masquerade', '=out-interface=ether1', '=log=yes');
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, '=!out-interface=', '=!log=');
    const [rule] = await client.rows('/ip/firewall/nat/print', `?.id=${id}`);
    expect(rule).toMatchObject({ log: 'false' });
    expect(rule).not.toHaveProperty('out-interface');
  });

  it('keep their order, and can be placed and moved', async () => {
    const add = (comment: string, ...more: string[]): Promise<string> =>
      client.ret('/ip/firewall/filter/add', '=chain=x', `=comment=${comment}`, ...more);
    const a = await add('a');
    const b = await add('b', `=place-before=${a}`);
    await add('c');
    await client.talk('/ip/firewall/filter/move', `=numbers=${a}`, `=destination=${b}`);
    expect((await client.rows('/ip/firewall/filter/print', '?chain=x')).map((rule) => rule['comment'])).toEqual(['a', 'b', 'c']);
  });

  it('that the router made cannot be changed', async () => {
    const [route] = await client.rows('/ip/route/print', '?connect=true');
    expect(await refusal('/ip/route/set', `=.id=${route?.['.id'] ?? ''}`, '=comment=x')).toEqual([
      '=message=failure: can not change dynamic route',
    ]);
    expect(await refusal('/ip/route/remove', `=.id=${route?.['.id'] ?? ''}`)).toEqual(['=message=failure: can not remove dynamic route']);
  });
});

describe('values', () => {
  it('print booleans as true and false however they were typed', async () => {
    const id = await client.ret('/ip/address/add', '=address=10.2.0.1/24', '=interface=ether2', '=disabled=yes');
    expect(await client.rows('/ip/address/print', `?.id=${id}`, '=.proplist=disabled,network')).toEqual([
      { network: '10.2.0.0', disabled: 'true' },
    ]);
  });

  it.each<[string, string[], string[]]>([
    ['a missing one', ['/ip/address/add', '=address=10.0.0.1/24'], ['=message=missing =interface=']],
    [
      'an address',
      ['/ip/address/add', '=address=nonsense', '=interface=ether1'],
      ['=category=1', '=message=invalid value for argument address'],
    ],
    [
      'an interface',
      ['/ip/address/add', '=address=10.0.0.1/24', '=interface=nope'],
      ['=category=1', '=message=input does not match any value of interface'],
    ],
    [
      'a range',
      ['/ip/firewall/filter/add', '=chain=input', '=src-address=x-10.0.0.1'],
      ['=category=1', "=message=value of range must have ip address before '-'"],
    ],
    [
      'a second of the same',
      ['/ip/address/add', '=address=192.168.88.1/24', '=interface=bridge'],
      ['=message=failure: already have such address'],
    ],
    ['a second pool', ['/ip/pool/add', '=name=default-dhcp', '=ranges=10.0.0.1'], ['=message=failure: pool with such name exists']],
    ['a second interface', ['/interface/bridge/add', '=name=ether1'], ['=message=failure: already have interface with such name']],
    ['a second user', ['/user/add', '=name=admin', '=group=read'], ['=message=failure: user with the same name already exists']],
    ['an unknown parameter', ['/ip/address/add', '=colour=red'], ['=message=unknown parameter colour']],
    [
      'ports without a protocol',
      ['/ip/firewall/nat/add', '=chain=dstnat', '=action=dst-nat', '=dst-port=80'],
      ['=message=failure: ports can be specified if proto is tcp,udp,udp-lite,dccp,sctp'],
    ],
    ['the last administrator', ['/user/remove', '=.id=admin'], ['=message=failure: there must be at least one user with full permissions']],
  ])("refuse %s in the router's own words", async (_name, words, trap) => {
    expect(await refusal(...words)).toEqual(trap);
  });
});

describe('what hangs together', () => {
  it('an address brings its connected route and takes it along', async () => {
    const id = await client.ret('/ip/address/add', '=address=172.16.5.1/20', '=interface=ether2');
    expect(await client.rows('/ip/route/print', '?dst-address=172.16.0.0/20')).toMatchObject([
      { gateway: 'ether2', dynamic: 'true', connect: 'true', active: 'true' },
    ]);
    await client.talk('/interface/disable', '=.id=ether2');
    expect(await client.rows('/ip/route/print', '?dst-address=172.16.0.0/20')).toEqual([]);
    await client.talk('/interface/enable', '=.id=ether2');
    await client.talk('/ip/address/remove', `=.id=${id}`);
    expect(await client.rows('/ip/route/print', '?dst-address=172.16.0.0/20')).toEqual([]);
  });

  it('a new interface can carry addresses at once', async () => {
    await client.talk('/interface/vlan/add', '=name=guests', '=vlan-id=30', '=interface=bridge');
    expect(await client.talk('/ip/address/add', '=address=10.30.0.1/24', '=interface=guests')).toMatchObject([
      ['!done', expect.stringMatching(/^=ret=\*/)],
    ]);
    expect(await client.rows('/interface/print', '?name=guests')).toMatchObject([{ type: 'vlan', running: 'true' }]);
  });

  it('a group decides what its users may do, from one command to the next', async () => {
    await client.talk('/user/group/add', '=name=look', '=policy=api,read');
    await client.talk('/user/add', '=name=eve', '=group=look', '=password=x');
    await using eve = await RawClient.login(router.apiPort, 'eve', 'x');
    expect(await eve.talk('/system/identity/set', '=name=mine')).toEqual([['!trap', '=message=not enough permissions (9)'], ['!done']]);
    await client.talk('/user/group/set', '=.id=look', '=policy=api,read,write');
    expect(await eve.talk('/system/identity/set', '=name=mine')).toEqual([['!done']]);
    expect((await client.rows('/user/print')).some((user) => 'password' in user)).toBe(false);
  });

  it('50,000 rows come through while others are served', async () => {
    const table = router.router.table('/ip/firewall/address-list');
    for (let index = 0; index < 50_000; index += 1)
      table.add([
        ['list', 'big'],
        ['address', `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`],
        ['disabled', 'false'],
      ]);
    await using other = await RawClient.login(router.apiPort);
    client.send('/ip/firewall/address-list/print');
    expect(await other.rows('/system/identity/print')).toHaveLength(1);
    let rows = 0;
    while ((await client.next())[0] === '!re') rows += 1;
    expect(rows).toBe(50_000);
  });
});
