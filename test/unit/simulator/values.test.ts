import { afterEach, describe, expect, it } from 'vitest';
import { ALL_MENUS } from '../../simulator/menu/definitions/index.ts';
import type { Property } from '../../simulator/menu/definition.ts';
import { readMenuTables } from '../../simulator/menu/menu-tables.ts';
import { readValue } from '../../simulator/menu/values.ts';
import { startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

const VERSIONS = ['6.49.18', '7.18.2'];

let simulator: Simulator;
afterEach(() => simulator?.close());

/** Runs one line on the console; the text it printed. */
async function console(line: string): Promise<string> {
  const { router } = simulator;
  let output = '';
  const session = { user: 'admin', policies: router.policiesOf('admin'), origin: 'ssh' as const, signal: new AbortController().signal };
  await router.scripts.run(line, session, (text) => (output += text));
  return output.trimEnd();
}

/** The same command as words of the API. */
const words = (path: string, attributes: Record<string, string>): string[] => [
  path,
  ...Object.entries(attributes).map(([name, value]) => `=${name}=${value}`),
];
const line = (path: string, attributes: Record<string, string>): string => {
  const cut = path.lastIndexOf('/');
  return `${path.slice(0, cut)} ${path.slice(cut + 1)} ${Object.entries(attributes)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`;
};

const refusals: readonly (readonly [path: string, attributes: Record<string, string>, message: string])[] = [
  ['/interface/vlan/add', { name: 'v', interface: 'ether1', 'vlan-id': '5000' }, 'value of vlan-id out of range (1..4094)'],
  ['/interface/vlan/add', { name: 'v', interface: 'ether1', 'vlan-id': 'x' }, 'invalid value for argument vlan-id'],
  ['/interface/ethernet/set', { numbers: 'ether1', mtu: '99999999' }, 'value of mtu out of range (68..65535)'],
  ['/interface/bridge/add', { name: 'b', mtu: '67' }, 'value of mtu out of range (68..65535)'],
  ['/ip/route/add', { gateway: '999.1.1.1' }, 'invalid value for argument gateway'],
  ['/ip/route/add', { gateway: '203.0.113.1,bogus' }, 'invalid value for argument gateway'],
  ['/ip/dns/set', { servers: 'not-an-ip' }, 'invalid value for argument servers'],
  ['/queue/simple/add', { name: 'q', target: 'bogus' }, 'invalid value for argument target'],
  ['/queue/simple/add', { name: 'q', target: '192.168.88.5', 'max-limit': '5X/5M' }, 'invalid value for argument max-limit'],
  ['/queue/simple/add', { name: 'q', target: '192.168.88.5', queue: 'nosuch' }, 'input does not match any value of queue'],
  ['/ip/pool/add', { name: 'p', ranges: '192.168.1.50-192.168.1.10' }, 'invalid value for argument ranges'],
  ['/ip/pool/add', { name: 'p', ranges: 'x-192.168.1.10' }, "value of range must have ip address before '-'"],
  ['/system/clock/set', { 'time-zone-name': 'Mars/Base' }, 'input does not match any value of time-zone-name'],
  ['/system/clock/set', { 'time-zone-name': '../../etc/passwd' }, 'input does not match any value of time-zone-name'],
];

describe.each(VERSIONS)('RouterOS %s refuses over API and console alike', (version) => {
  it.each(refusals)('%s %o: %s', async (path, attributes, message) => {
    simulator = await startSimulator({ version, sshPort: null });
    await using client = await RawClient.login(simulator.apiPort);
    const before = simulator.router.saveConfiguration();
    expect(await client.talk(...words(path, attributes))).toContainEqual(expect.arrayContaining(['!trap', `=message=${message}`]));
    expect(await console(line(path, attributes))).toBe(message);
    expect(simulator.router.saveConfiguration() === before, 'the configuration is as before').toBe(true);
  });

  it.each([
    '/system identity set name=two words',
    '/ip address set [find] comment=two words',
    '/interface ethernet set ether1 comment=two words',
    '/queue simple add name=q target=192.168.88.5 comment=two words',
    '/snmp set location=rack 4',
  ])('two words without quotes: %s', async (command) => {
    simulator = await startSimulator({ version, apiPort: null, sshPort: null });
    expect(await console(command)).toMatch(/^expected end of command \(line 1 column \d+\)$/);
  });
});

const stored: readonly (readonly [path: string, name: string, typed: string, kept: string])[] = [
  ['/queue/simple', 'max-limit', '5000k/5M', '5M/5M'],
  ['/queue/simple', 'max-limit', '2500k', '2500k/2500k'],
  ['/queue/simple', 'max-limit', '0/1000000000', '0/1G'],
  ['/queue/simple', 'target', '192.168.88.5,10.1.2.3/8', '192.168.88.5/32,10.0.0.0/8'],
  ['/queue/simple', 'burst-time', '90/10s', '1m30s/10s'],
  ['/ip/route', 'dst-address', '10.1.2.3/8', '10.0.0.0/8'],
  ['/ip/route', 'dst-address', '10.1.2.3', '10.1.2.3/32'],
  ['/ip/firewall/filter', 'src-address', '!10.1.2.3/24', '!10.1.2.0/24'],
  ['/ip/firewall/filter', 'src-address', '10.1.2.3/32', '10.1.2.3'],
  ['/ip/pool', 'ranges', '10.0.0.1-10.0.0.9,10.0.1.0/24', '10.0.0.1-10.0.0.9,10.0.1.0/24'],
  ['/ip/dns', 'servers', '8.8.8.8,1.1.1.1', '8.8.8.8,1.1.1.1'],
  ['/ip/dhcp-server', 'lease-time', '3600', '1h'],
  ['/ip/dhcp-server/network', 'address', '192.168.30.7/24', '192.168.30.0/24'],
  ['/ip/arp', 'mac-address', '0011.22aa.bbcc', '00:11:22:AA:BB:CC'],
];

it.each(stored)('%s keeps %s=%s as %s', async (path, name, typed, kept) => {
  simulator = await startSimulator({ apiPort: null, sshPort: null });
  const property = ALL_MENUS.find((menu) => menu.path === path)?.properties[name];
  expect(readValue(property?.type ?? 'text', typed, name, simulator.router)).toBe(kept);
});

it.each(VERSIONS)('every default of every menu of %s is a value its own type takes', async (version) => {
  simulator = await startSimulator({ version, apiPort: null, sshPort: null });
  const { router } = simulator;
  const isHere = (range: { since?: string; until?: string }): boolean => router.version.within(range);
  let checked = 0;
  for (const menu of ALL_MENUS.filter((each) => isHere(each) && (each.when?.(router) ?? true))) {
    for (const [name, property] of Object.entries<Property>(menu.properties)) {
      if (property.default === undefined || property.default === '' || property.readOnly || !isHere(property)) continue;
      expect(readValue(property.type ?? 'text', property.default, name, router), `${menu.path} ${name}`).toBe(property.default);
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(200);
});

it('a table with a word it does not know is refused', () => {
  expect(() => readMenuTables('/x sideways')).toThrow('/x: unknown word sideways');
  expect(() => readMenuTables('/x\n  name text upside-down')).toThrow('unknown word upside-down');
  expect(() => readMenuTables('  name text')).toThrow('no menu before');
});

it('a table says types, uses, versions and standing entries', () => {
  const [menu] = readMenuTables(
    '/x unique=name since=7.1 flags\n  name required\n  size 1..9|auto =auto\n  rates pair(rate) since=7.2 sensitive\n+ name=a size=3',
  );
  expect(menu).toMatchObject({
    path: '/x',
    since: '7.1',
    unique: { properties: ['name'] },
    entries: [{ name: 'a', size: '3' }],
    properties: {
      name: { required: true },
      size: { type: { oneOf: [['auto'], { from: 1, to: 9 }] }, default: 'auto' },
      rates: { type: { pairOf: 'rate' }, since: '7.2', sensitive: true },
    },
  });
  expect(Object.keys(menu?.properties ?? {})).toEqual(['name', 'size', 'rates', 'invalid', 'dynamic', 'disabled', 'comment']);
});
