import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../../agent/config.ts';
import { setupLines, undoLines } from '../../../server/cli/router-setup/index.ts';
import { quoteAscii } from '../../../routeros-text/quote.ts';
import type { SimulatorOptions } from '../../simulator/options.ts';
import { SimulatedRouter } from '../../simulator/router.ts';
import { createScripts } from '../../simulator/scripts.ts';
import { ManualTime } from '../../simulator/time.ts';

/** The lines run in the simulator's script engine, which has the container menus of either form. */

const setup = { serverUrl: 'https://signalbox.example.net', enrolToken: 'T0ken', name: 'edge', disk: 'disk1' };
/** Before and after mounts were put into lists. */
const VERSIONS = ['7.15.3', '7.20.8', '7.21.4', '7.24'] as const;
const TICK_MS = 500;

class Bench {
  readonly time = new ManualTime();
  readonly router: SimulatedRouter;

  constructor(options: Partial<SimulatorOptions> = {}) {
    this.router = new SimulatedRouter(
      { version: '7.20.8', model: 'CCR2004-1G-12S+2XS', containers: true, time: this.time, ...options },
      createScripts,
    );
    this.router.powerOn();
    this.router.files.write('disk1/signalbox-agent-arm64.tar', 'image');
    this.router.files.write('disk1/signalbox-agent-amd64.tar', 'image');
  }

  /** As pasted: one block. */
  async paste(lines: readonly string[]): Promise<{ output: string; error: string | undefined }> {
    let output = '';
    const session = {
      user: 'admin',
      policies: this.router.policiesOf('admin'),
      origin: 'ssh' as const,
      signal: new AbortController().signal,
    };
    const running = this.router.scripts.run(lines.join('\n'), session, (text) => (output += text));
    const state = { hasEnded: false };
    const ended = running.finally(() => (state.hasEnded = true));
    while (!state.hasEnded) await this.time.advance(TICK_MS);
    const { error } = await ended;
    return { output: output.replaceAll('\r\n', '\n'), error };
  }

  items(path: string): Record<string, string>[] {
    return this.router.table(path).items.map((item) => Object.fromEntries(item.values));
  }

  /** Everything an administrator would look at, without what changes by itself. */
  configuration(): unknown {
    const paths = [
      '/user',
      '/user/group',
      '/ip/address',
      '/ip/firewall/filter',
      '/ip/firewall/nat',
      '/certificate',
      '/interface',
      '/container',
      '/container/mounts',
    ];
    const services = this.items('/ip/service').map(({ name, address = '', certificate = 'none', disabled }) => ({
      name,
      address,
      certificate,
      disabled,
    }));
    return {
      services,
      files: this.router.files.list().map(({ name }) => name),
      ...Object.fromEntries(paths.map((path) => [path, this.items(path)])),
    };
  }
}

describe.each(VERSIONS)('on RouterOS %s', (version) => {
  test('they make user, certificate, network, rules, files and a container that runs', async () => {
    const bench = new Bench({ version });
    const { output, error } = await bench.paste(setupLines(setup));
    expect(error).toBeUndefined();
    expect(output).toMatch(/unpacking the image.*\n.*the agent has started/);
    expect(bench.items('/container')).toMatchObject([
      {
        file: 'disk1/signalbox-agent-arm64.tar',
        interface: 'veth-signalbox',
        'root-dir': 'disk1/signalbox-root',
        'start-on-boot': 'true',
        comment: 'signalbox',
        '.state': 'running',
      },
    ]);
    const lists = version.startsWith('7.15') || version.startsWith('7.20') ? ['name', 'mounts'] : ['list', 'mountlists'];
    expect(bench.items('/container/mounts')).toMatchObject([{ [lists[0]!]: 'signalbox', src: 'disk1/signalbox', dst: '/etc/signalbox' }]);
    expect(bench.items('/container')[0]).toMatchObject({ [lists[1]!]: 'signalbox' });
  });

  test('a second paste changes nothing, and the undo leaves the router as it was', async () => {
    const bench = new Bench({ version });
    const before = bench.configuration();
    await bench.paste(setupLines(setup));
    const after = bench.configuration();
    expect(after).not.toEqual(before);
    expect((await bench.paste(setupLines(setup))).error).toMatch(/the container exists already, nothing was changed/);
    expect(bench.configuration()).toEqual(after);
    expect(await bench.paste(undoLines(setup))).toEqual({ output: 'signalbox: everything is removed\n', error: undefined });
    expect(bench.configuration()).toEqual(before);
    expect((await bench.paste(undoLines(setup))).error).toBeUndefined();
    expect(bench.configuration()).toEqual(before);
  });
});

test('the user may log in from the container alone, with the policies of SECURITY.md', async () => {
  const bench = new Bench();
  await bench.paste(setupLines(setup));
  const user = bench.items('/user').find(({ name }) => name === 'signalbox-container')!;
  expect(user).toMatchObject({ group: 'signalbox-container', address: '172.31.255.2/32' });
  expect(user['password']).toMatch(/^[A-Za-z2-9]{32}$/);
  const { policy } = bench.items('/user/group').find(({ name }) => name === 'signalbox-container')!;
  expect(policy!.split(',').toSorted()).toEqual([
    'api',
    'ftp',
    'password',
    'policy',
    'read',
    'reboot',
    'sensitive',
    'ssh',
    'test',
    'write',
  ]);
});

test('the agent reads its configuration: the certificate is pinned, and the password is the user’s', async () => {
  const bench = new Bench();
  await bench.paste(setupLines({ ...setup, name: 'Müller "5" $cost \\ ? {x}' }));
  const text = bench.router.files.read('disk1/signalbox/agent.yaml')!.toString();
  const config = parseConfig(parse(text), '/etc/signalbox');
  const password = bench.items('/user').find(({ name }) => name === 'signalbox-container')!['password'];
  expect(config).toMatchObject({
    server: 'https://signalbox.example.net',
    credentials: '/etc/signalbox/credentials.json',
    enrol_token_file: '/etc/signalbox/enrol-token.txt',
    state: '/etc/signalbox/state',
    routers: [
      {
        name: 'Müller "5" $cost \\ ? {x}',
        host: '172.31.255.1',
        forward_way: 'direct',
        api: { tls: true, port: 8729, username: 'signalbox-container', password },
        ssh: { port: 22, username: 'signalbox-container', password },
      },
    ],
  });
  const { output } = await bench.paste([':put [/certificate/get signalbox-api fingerprint]']);
  expect(config.routers[0]!.api!.fingerprint).toBe(output.trim());
  expect(bench.router.files.read('disk1/signalbox/enrol-token.txt')!.toString()).toBe('T0ken');
});

test('the rule that lets the agent in is the first of the input chain, and names both ports', async () => {
  const bench = new Bench();
  await bench.paste(['/ip/service/set ssh port=2222', '/ip/service/set api-ssl port=9999', ...setupLines(setup)]);
  const [first] = bench.items('/ip/firewall/filter').filter(({ chain }) => chain === 'input');
  expect(first).toMatchObject({
    action: 'accept',
    protocol: 'tcp',
    'src-address': '172.31.255.2',
    'in-interface': 'veth-signalbox',
    'dst-port': '9999,2222',
  });
  expect(bench.items('/ip/firewall/nat')).toContainEqual(
    expect.objectContaining({ chain: 'srcnat', action: 'masquerade', 'src-address': '172.31.255.2' }) as unknown,
  );
});

test('services keep what they have: a certificate, a list of addresses, being off for others', async () => {
  const bench = new Bench();
  const own =
    '/certificate/add name=own common-name=own; /certificate/sign own; /ip/service/set api-ssl certificate=own address=10.0.0.0/8,192.168.88.0/24 disabled=no';
  await bench.paste([own, '/ip/service/set ssh disabled=yes']);
  const before = bench.configuration();
  expect((await bench.paste(setupLines(setup))).error).toBeUndefined();
  const service = bench.items('/ip/service').find(({ name }) => name === 'api-ssl')!;
  expect(service).toMatchObject({ certificate: 'own', address: '10.0.0.0/8,192.168.88.0/24,172.31.255.2/32' });
  expect(bench.items('/ip/service').find(({ name }) => name === 'ssh')).toMatchObject({ disabled: 'true' });
  expect(bench.items('/certificate').map(({ name }) => name)).toEqual(['own']);
  const config = parseConfig(parse(bench.router.files.read('disk1/signalbox/agent.yaml')!.toString()), '/');
  expect(config.routers[0]!.ssh).toBeUndefined();
  await bench.paste(undoLines(setup));
  expect(bench.configuration()).toEqual(before);
});

test('files that flash writes back late are waited for', async () => {
  const bench = new Bench({ fileSizeLagMs: 20_000 });
  expect((await bench.paste(setupLines(setup))).error).toBeUndefined();
});

test('the folder of another disk is used, and undone there', async () => {
  const bench = new Bench();
  bench.router.files.write('usb1/sub.d/signalbox-agent-arm64.tar', 'image');
  const before = bench.configuration();
  const elsewhere = { ...setup, disk: 'usb1/sub.d' };
  expect((await bench.paste(setupLines(elsewhere))).error).toBeUndefined();
  expect(bench.items('/container')).toMatchObject([
    { file: 'usb1/sub.d/signalbox-agent-arm64.tar', 'root-dir': 'usb1/sub.d/signalbox-root' },
  ]);
  await bench.paste(undoLines(elsewhere));
  expect(bench.configuration()).toEqual(before);
});

test('a second paste after an interrupted one continues from there', async () => {
  const bench = new Bench();
  bench.router.faults.diskFull = true;
  expect((await bench.paste(setupLines(setup))).error).toMatch(/not enough space/);
  expect(bench.items('/container')).toEqual([]);
  bench.router.faults.diskFull = false;
  expect((await bench.paste(setupLines(setup))).error).toBeUndefined();
  expect(bench.items('/container')).toMatchObject([{ '.state': 'running' }]);
  for (const path of ['/ip/firewall/filter', '/ip/firewall/nat', '/interface']) {
    expect(
      bench.items(path).filter(({ comment }) => comment === 'signalbox'),
      path,
    ).toHaveLength(1);
  }
});

test.each([
  ['RouterOS that is too old', { version: '7.14.3' }, [], /RouterOS 7.15 or later is needed, this is 7.14.3/],
  ['RouterOS that is far too old', { version: '7.10.2' }, [], /RouterOS 7.15 or later is needed, this is 7.10.2/],
  ['an ARM processor of 32 bits', { model: 'hAP ac^2' }, [], /no image for the processor arm, run the agent beside the router/],
  ['no container package', { containers: false }, [], /the container package is not installed/],
  ['no clock', { clock: 'unset' }, [], /the clock is not set/],
  ['no image', {}, ['/file/remove disk1/signalbox-agent-arm64.tar'], /upload disk1\/signalbox-agent-arm64.tar first/],
  ['the network in use', {}, ['/ip/address/add address=172.31.255.1/30 interface=bridge'], /172.31.255.0 is in use/],
] as const)('%s ends them with the reason, before anything is changed', async (_what, options, first, reason) => {
  const bench = new Bench(options);
  expect((await bench.paste(first)).error).toBeUndefined();
  const before = bench.router.saveConfiguration();
  expect((await bench.paste(setupLines(setup))).error).toMatch(reason);
  expect(bench.router.saveConfiguration() === before).toBe(true);
});

test('device-mode without containers ends them with the command that allows them', async () => {
  const bench = new Bench();
  const [mode] = bench.router.table('/system/device-mode').items;
  bench.router.table('/system/device-mode').update(mode!, [['container', 'false']]);
  const before = bench.router.saveConfiguration();
  expect((await bench.paste(setupLines(setup))).error).toMatch(/containers are off: \/system\/device-mode\/update container=yes/);
  expect(bench.router.saveConfiguration() === before).toBe(true);
});

test('a line is short enough for a terminal, and plain characters only', () => {
  for (const line of [...setupLines({ ...setup, name: 'ü'.repeat(64) }), ...undoLines(setup)]) {
    expect(line).toMatch(/^[\x20-\x7e]+$/);
    // A terminal's own line takes 4096 characters; a name of 64 letters is the longest here.
    expect(line.length, line).toBeLessThan(600);
    expect(line).not.toMatch(/[?\t]/);
  }
});

test.each(['plain', '', 'two words', '"', '$x', '\\', '?', 'a\nb', 'é€😀', '[:put 1]', '{}', "'"])(
  'quoted, %j is itself again on a router',
  async (text) => {
    const bench = new Bench();
    const { output, error } = await bench.paste([`:local x ${quoteAscii(text)}`, '/file/add name="quoted.txt" contents=$x']);
    expect({ output, error }).toEqual({ output: '', error: undefined });
    expect(bench.router.files.read('quoted.txt')!.toString()).toBe(text);
  },
);
