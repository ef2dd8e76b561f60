/**
 * The stand-in against what real routers were recorded to say. The recordings lie beside the project, not in it;
 * where they are absent these tests are skipped, and say so.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

const samples = path.resolve(import.meta.dirname, '../../../../shared/routeros/samples');
const areThere = existsSync(samples);
if (!areThere) process.stdout.write(`SKIPPED: no recorded samples at ${path.relative(process.cwd(), samples)}\n`);

const read = (name: string): unknown => JSON.parse(readFileSync(path.join(samples, name), 'utf8'));

let simulator: Simulator;
afterEach(() => simulator.close());

async function printed(version: string, model: string, menu: string): Promise<Record<string, string>[]> {
  simulator = await startSimulator({ version, model, sshPort: null });
  await using client = await RawClient.login(simulator.apiPort);
  return await client.rows(`${menu}/print`);
}

/** The recordings come as one record, `{data: [...]}`, or words of a transcript. */
function firstRecord(name: string): Record<string, unknown> {
  const sample = read(name) as { data?: Record<string, unknown>[] };
  return sample.data?.[0] ?? { ...sample };
}

describe.skipIf(!areThere)('a print has the properties real routers print', () => {
  it.each<[sample: string, version: string, model: string, menu: string, notHere: string[]]>([
    ['interface_print.v6.json', '6.49.18', 'hEX', '/interface', ['fast-path']],
    [
      'interface_ethernet_print.v7.json',
      '7.18.2',
      'hEX',
      '/interface/ethernet',
      [
        // Fields of the hardware's driver; nothing reads them here.
        'advertise',
        'arp-timeout',
        'cable-settings',
        'disable-running-check',
        'loop-protect',
        'loop-protect-disable-time',
        'loop-protect-send-interval',
        'loop-protect-status',
        'rx-broadcast',
        'rx-bytes',
        'rx-flow-control',
        'rx-multicast',
        'rx-packet',
        'tx-broadcast',
        'tx-bytes',
        'tx-flow-control',
        'tx-multicast',
        'tx-packet',
      ],
    ],
    ['system_identity_print.json', '6.49.18', 'hEX', '/system/identity', []],
    ['system_identity_print.v7.json', '7.18.2', 'hEX', '/system/identity', []],
    ['system_clock_print.v7.10plus.json', '7.18.2', 'hEX', '/system/clock', []],
    // The revision letter is not printed by every board.
    ['system_routerboard_print.v7.11.2-crs312.json', '7.11.2', 'hEX', '/system/routerboard', ['revision']],
    ['system_routerboard_print.x86.json', '6.49.18', 'x86', '/system/routerboard', []],
    ['system_resource_cpu_print.v7.4-ccr2004.json', '7.4', 'CCR2004-1G-12S+2XS', '/system/resource/cpu', []],
    ['ip_ssh_print.v7-early.json', '7.8', 'hEX', '/ip/ssh', []],
    ['ip_cloud_print.pre7.17.json', '7.16', 'hEX', '/ip/cloud', ['dns-name', 'public-address', 'status', 'warning']],
  ])('%s', async (sample, version, model, menu, notHere) => {
    const [row] = await printed(version, model, menu);
    const wanted = Object.keys(firstRecord(`api-json/${sample}`)).filter((name) => !notHere.includes(name));
    expect(Object.keys(row ?? {})).toEqual(expect.arrayContaining(wanted));
  });

  it('user records', async () => {
    const rows = await printed('6.49.18', 'hEX', '/user');
    expect(Object.keys(rows[0] ?? {}).sort()).toEqual(Object.keys(firstRecord('api-json/user_print.v6.json')).sort());
  });
});

describe.skipIf(!areThere)('recorded words come back as recorded', () => {
  it('x86 is no RouterBOARD, and a free CHR has a licence of two fields', async () => {
    expect(await printed('6.49.18', 'x86', '/system/routerboard')).toEqual([{ routerboard: 'false' }]);
    await simulator.close();
    const recorded = read('api-transcripts/system_license_print.chr-free.v7.22.json') as Record<string, Record<string, string>>;
    const [license] = await printed('7.22.1', 'CHR', '/system/license');
    expect(license).toMatchObject({ level: recorded['/system/license/print']?.['level'] });
    expect(Object.keys(license ?? {}).sort()).toEqual(Object.keys(recorded['/system/license/print'] ?? {}).sort());
  });

  it.each(['7.11', '7.20.8', '7.23.1'])('/ip/ssh of %s', async (version) => {
    const recorded = read('api-transcripts/ssh_settings_by_version.v7.json') as Record<string, Record<string, string>>;
    expect(await printed(version, 'CHR', '/ip/ssh')).toEqual([recorded[version]]);
  });

  it('v7 lists sensors by name, value and type', async () => {
    const recorded = read('api-transcripts/system_health_print.v7.json') as Record<string, [string, Record<string, string>][]>;
    const wanted = recorded['RB (voltage/temperature)']?.filter(([word]) => word === '!re').map(([, row]) => row);
    expect((await printed('7.18.2', 'hEX', '/system/health')).map(({ name, value, type }) => ({ name, value, type }))).toEqual(
      wanted?.map(({ name, value, type }) => ({ name, value, type })),
    );
  });

  it('a dst-nat rule prints in the recorded order', async () => {
    const recorded = read('api-transcripts/nat_dstnat_print.v7.json') as { reply: [string, Record<string, string>][] };
    const rule = recorded.reply[0]?.[1] ?? {};
    simulator = await startSimulator({ version: '7.12', sshPort: null, blank: true });
    await using client = await RawClient.login(simulator.apiPort);
    const readOnly = ['.id', 'bytes', 'packets', 'invalid', 'dynamic'];
    const words = Object.entries(rule)
      .filter(([name]) => !readOnly.includes(name))
      .map(([name, value]) => `=${name}=${value}`);
    await client.ret('/ip/firewall/nat/add', ...words);
    const [row = {}] = await client.rows('/ip/firewall/nat/print');
    expect({ ...row, '.id': rule['.id'] }).toMatchObject(rule);
    expect(Object.keys(row).filter((name) => name in rule)).toEqual(Object.keys(rule));
  });

  it.each(['7.9.2', '7.12.2', '7.15.3', '7.18.2', '7.20.8', '7.23.3', '7.24'])(
    'every parameter this router takes exists in %s',
    async (version) => {
      simulator = await startSimulator({ version, model: 'hEX', sshPort: null, apiPort: null });
      const { menus } = simulator.router;
      const tree = read(`schema/inspect-subset-${version}.json`);
      const strangers: string[] = [];
      for (const [menu, commands] of recordedMenus(tree, '')) {
        if (!menus.hasPath(menu)) continue;
        for (const command of ['add', 'set']) {
          const recorded = commands[command];
          if (typeof recorded !== 'object' || !menus.commands(menu).includes(command)) continue;
          const known = menus.parameters(menu, command) ?? [];
          // The API's own, and what only the console's completion leaves out.
          const unknown = known.filter((name) => !(name in recorded) && !['numbers', 'number', 'place-before', 'copy-from'].includes(name));
          strangers.push(...unknown.map((name) => `${menu}/${command} ${name}`));
        }
      }
      expect(strangers).toEqual([]);
    },
  );
});

interface CommandTree {
  [name: string]: CommandTree | string;
}

function kindOf(node: CommandTree | string): string {
  const kind = typeof node === 'string' ? '' : node['_type'];
  return typeof kind === 'string' ? kind : '';
}

function recordedMenus(tree: unknown, at: string): [string, CommandTree][] {
  const entries = Object.entries(tree as CommandTree);
  const commands = entries.filter(([, child]) => kindOf(child) === 'cmd');
  const found: [string, CommandTree][] = commands.length === 0 ? [] : [[at, Object.fromEntries(commands)]];
  for (const [name, child] of entries) if (['dir', 'path'].includes(kindOf(child))) found.push(...recordedMenus(child, `${at}/${name}`));
  return found;
}
