import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ManualTime, startSimulator, type Simulator, type SimulatorOptions } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: Partial<SimulatorOptions>): Promise<ManualTime> {
  const time = new ManualTime();
  simulator = await startSimulator({ sshPort: null, time, ...options });
  return time;
}

async function run(source: string): Promise<{ output: string; error?: string }> {
  const { router } = simulator;
  let output = '';
  const session = { user: 'admin', policies: router.policiesOf('admin'), origin: 'ssh' as const, signal: new AbortController().signal };
  const { error } = await router.scripts.run(source, session, (text) => (output += text));
  return error === undefined ? { output } : { output, error };
}

it.each(['6.49.18', '7.18.2'])('reset-configuration of %s leaves what is asked for', async (version) => {
  const time = await start({
    version,
    users: [
      { name: 'admin', password: '' },
      { name: 'ops', password: 'x' },
    ],
    managementInterface: 'ether2',
  });
  simulator.router.files.write('flash/after.rsc', '/system identity set name=reborn');
  await run('/ip address add address=10.9.9.9/24 interface=ether1; /queue simple add name=q target=10.0.0.0/8; /ppp profile add name=mine');
  await run('/system reset-configuration keep-users=yes no-defaults=yes run-after-reset=flash/after.rsc');
  await time.advance(5000);
  expect(simulator.items('/ip/address').map(({ address }) => address)).toEqual(['192.168.88.1/24']);
  expect(simulator.items('/queue/simple')).toEqual([]);
  expect(simulator.items('/ppp/profile').map(({ name }) => name)).toEqual(['default', 'default-encryption']);
  expect(simulator.items('/ip/firewall/filter')).toEqual([]);
  expect(simulator.items('/user').map(({ name }) => name)).toEqual(['admin', 'ops']);
  expect(simulator.items('/system/identity')[0]?.['name']).toBe('reborn');
  await run('/system reset-configuration');
  await time.advance(5000);
  expect(simulator.items('/user').map(({ name }) => name)).toEqual(['admin']);
  expect(simulator.items('/ip/firewall/filter').length).toBeGreaterThan(3);
});

it('reset-configuration needs its rights and a script that is there', async () => {
  await start({ groups: { few: ['api', 'read', 'write'] }, users: [{ name: 'admin', password: '', group: 'few' }] });
  expect((await run('/system reset-configuration')).error).toBe('not enough permissions (9)');
  await simulator.close();
  await start({});
  expect((await run('/system reset-configuration run-after-reset=nosuch.rsc')).error).toBe('failure: file not found');
});

it('fetch really fetches from loopback: header, method, data and password arrive', async () => {
  const seen: unknown[] = [];
  const web = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers['x-key'], body]);
      response.end('{"ok":true}');
    });
  });
  await once(web.listen(0, '127.0.0.1'), 'listening');
  await start({ version: '7.18.2' });
  const { port } = web.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook?x=1`;
  const { output, error } = await run(
    `:put ([/tool fetch url="${url}" user=u password=p http-method=put http-header-field="X-Key: 7" http-data="hello" output=user as-value]->"data")`,
  );
  expect(error).toBeUndefined();
  expect(output).toBe('{"ok":true}\r\n');
  expect(seen).toEqual([['PUT', '/hook?x=1', `Basic ${Buffer.from('u:p').toString('base64')}`, '7', 'hello']]);
  await using client = await RawClient.login(simulator.apiPort);
  expect(await client.talk('/tool/fetch', `=url=http://127.0.0.1:${port}/page.html`)).toContainEqual(
    expect.arrayContaining(['!re', '=status=finished']),
  );
  expect(simulator.router.files.read('page.html')?.toString()).toBe('{"ok":true}');
  web.close();
  for (const outside of ['http://192.0.2.7/', 'http://10.1.1.1/x'])
    expect((await run(`/tool fetch url="${outside}"`)).error).toBe('failure: connection timeout');
});

it('a ping in brackets is the number of answers', async () => {
  await start({});
  expect((await run(':put [/ping 192.168.88.10 count=1]; :put [/ping 192.168.88.200 count=1]')).output).toBe('1\r\n0\r\n');
});

it('netwatch stops with the router and is heard again after a reboot', async () => {
  const time = await start({ version: '7.18.2' });
  await run('/tool netwatch add host=192.168.88.10 interval=10s down-script=":log info gone"');
  await time.advance(1000);
  const rebooted = simulator.reboot({ downMs: 1000 });
  await time.advance(2000);
  await rebooted;
  const arp = simulator.router.table('/ip/arp');
  const entry = arp.find('address', '192.168.88.10');
  if (entry) arp.remove(entry);
  await time.advance(11_000);
  expect(simulator.log).toContain('gone');
  expect(simulator.executions.filter(({ kind }) => kind === 'netwatch')).toHaveLength(1);
});

it('versions differ: menus and commands of one personality are not known to the other', async () => {
  const cases: [string, string, boolean][] = [
    ['6.49.18', '/interface wireguard print', false],
    ['7.18.2', '/interface wireguard print', true],
    ['6.49.18', '/interface wifi print', false],
    ['7.12.2', '/interface wifi print', false],
    ['7.13', '/interface wifi print', true],
    ['6.49.18', '/interface wireless print', true],
    ['7.18.2', '/interface wireless print', false],
    ['6.49.18', '/routing bgp peer print', true],
    ['7.18.2', '/routing bgp peer print', false],
    ['7.18.2', '/routing bgp connection print', true],
    ['7.12.2', ':put [:serialize value=1 to=json]', false],
    ['7.18.2', ':put [:serialize value=1 to=json]', true],
    ['6.49.18', ':put [:convert a to=hex]', false],
    ['7.18.2', ':put [:convert a to=hex]', true],
  ];
  for (const [version, command, isKnown] of cases) {
    await start({ version, apiPort: null });
    const { error } = await run(command);
    expect(error === undefined, `${version} ${command}: ${error}`).toBe(isKnown);
    await simulator.close();
  }
});
