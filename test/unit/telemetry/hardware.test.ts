import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cleaner } from '../../../agent/telemetry/cleaner.ts';
import { readHealth } from '../../../agent/telemetry/health.ts';
import { RouterReader } from '../../../agent/telemetry/read-router.ts';
import type { HealthReadings } from '../../../protocol/index.ts';
import { AgentRouters, reachable } from '../../harness/agent-router.ts';
import { textOfBytes } from '../../simulator/api/words.ts';
import type { Simulator } from '../../simulator/index.ts';

let routers: AgentRouters;
beforeEach(() => {
  routers = new AgentRouters();
});
afterEach(() => routers.close());

async function read(simulator: Simulator, ways: { api?: boolean; ssh?: boolean } = { api: true }): Promise<HealthReadings> {
  const adapter = await routers.adapter(routers.config(simulator, ways));
  await reachable(adapter);
  return new RouterReader(adapter, routers.clock).readHealth(AbortSignal.timeout(20_000));
}

test.each(['6.49.18', '7.18.2'])('RouterOS %s: states, fans and supplies in its own format', async (version) => {
  const simulator = await routers.simulate({ version, model: 'CCR2004-1G-12S+2XS', sshPort: null });
  for (const [name, value] of [
    ['fan2-speed', '0'],
    ['psu1-voltage', '12.1'],
    ['fan-state', 'fail'],
    ['sfp-temperature', '61'],
  ] as const)
    simulator.setSensor(name, value);
  const readings = await read(simulator);
  expect(readings.states).toEqual(
    expect.arrayContaining([
      { name: 'psu1-state', state: 'ok' },
      { name: 'psu2-state', state: 'fail' },
      { name: 'fan-state', state: 'fail' },
    ]),
  );
  expect(readings.fans).toEqual([
    { name: 'fan1-speed', rpm: 4680 },
    { name: 'fan2-speed', rpm: 0 },
  ]);
  expect(readings.supplies).toEqual([{ name: 'psu1-voltage', volts: 12.1 }]);
  expect(readings.temperatures).toContainEqual({ name: 'sfp-temperature', celsius: 61 });
});

test('the sensors are the same with SSH only', async () => {
  const simulator = await routers.simulate({ version: '7.18.2', model: 'CCR2004-1G-12S+2XS', apiPort: null });
  const readings = await read(simulator, { ssh: true });
  expect(readings.states).toEqual([
    { name: 'psu1-state', state: 'ok' },
    { name: 'psu2-state', state: 'fail' },
  ]);
  expect(readings.fans).toEqual([{ name: 'fan1-speed', rpm: 4680 }]);
});

test.each(['6.49.18', '7.18.2'])('RouterOS %s: PoE ports and modems, several at once', async (version) => {
  const simulator = await routers.simulate({ version, sshPort: null });
  simulator.setPoeOut('ether2', 'short-circuit');
  simulator.setPoeOut('ether5', 'powered-on');
  const interfaces = simulator.router.table('/interface');
  for (const [name, rsrp] of [
    ['lte1', '-97'],
    ['lte2', ''],
  ] as const) {
    interfaces.add(
      Object.entries({
        name,
        type: 'lte',
        disabled: 'false',
        '.registration-status': rsrp === '' ? 'searching' : 'registered',
        ...(rsrp === '' ? {} : { '.rsrp': rsrp }),
      }),
    );
  }
  const readings = await read(simulator);
  expect(readings.poe).toEqual([
    { interface: 'ether2', status: 'short-circuit' },
    { interface: 'ether5', status: 'powered-on' },
  ]);
  expect(readings.signals).toEqual([
    { interface: 'lte1', kind: 'lte', dbm: -97 },
    { interface: 'lte2', kind: 'lte', dbm: null },
  ]);
});

/** `Büro` as a Winbox on Windows once stored it: no UTF-8, so that the same name in a question would be another one. */
const LATIN_1 = textOfBytes(Buffer.from([0x42, 0xfc, 0x72, 0x6f]));

test('an interface whose name is not UTF-8 is reported like the others', async () => {
  const simulator = await routers.simulate({ version: '7.18.2', sshPort: null });
  simulator.setPoeOut('ether2', 'powered-on');
  simulator.setPoeOut('ether5', 'short-circuit');
  simulator.router
    .table('/interface')
    .add(Object.entries({ name: 'lte1', type: 'lte', disabled: 'false', '.registration-status': 'registered', '.rsrp': '-97' }));
  // ether1 is the WAN interface.
  const spelt: Record<string, string> = { ether1: LATIN_1, ether2: `2${LATIN_1}`, lte1: `L${LATIN_1}` };
  simulator.faults.spoil = (_path, _name, value) => spelt[value] ?? value;
  const readings = await read(simulator);
  expect(readings.wan).toEqual([{ interface: 'Büro', running: true }]);
  expect(readings.poe).toEqual([
    { interface: '2Büro', status: 'powered-on' },
    { interface: 'ether5', status: 'short-circuit' },
  ]);
  expect(readings.signals).toEqual([{ interface: 'LBüro', kind: 'lte', dbm: -97 }]);
});

test('control characters in names and states of sensors are cleaned before matching, and counted', () => {
  const cleaner = new Cleaner();
  const rows = [
    { '.id': '*1', name: 'psu\u00072-state', value: 'fail\0', type: '' },
    { '.id': '*2', name: 'fan1-speed\u001B', value: '\u00001200', type: '' },
    { '.id': '*3', name: 'cpu-\0temperature', value: '61', type: '' },
    { '.id': '*4', name: '\u202Epsu1-voltage', value: '12.1', type: 'V' },
    { '.id': '*5', name: 'x'.repeat(10_000), value: '9'.repeat(10_000), type: 'C' },
  ];
  expect(readHealth(rows, cleaner)).toEqual({
    temperatures: [{ name: 'cpu-temperature', celsius: 61 }],
    voltage: 12.1,
    states: [{ name: 'psu2-state', state: 'fail' }],
    fans: [{ name: 'fan1-speed', rpm: 1200 }],
    supplies: [{ name: 'psu1-voltage', volts: 12.1 }],
  });
  expect(cleaner.count).toBe(8);
});

test('a station reports the signal of its access point; an access point reports none', async () => {
  const simulator = await routers.simulate({ version: '6.49.18', sshPort: null });
  const clients = simulator.router.table('/interface/wireless/registration-table');
  clients.add(Object.entries({ interface: 'wlan1', ap: 'true', 'signal-strength': '-71dBm@6Mbps' }));
  clients.add(Object.entries({ interface: 'wlan2', ap: 'false', 'signal-strength': '-93dBm@6Mbps' }));
  expect((await read(simulator)).signals).toEqual([{ interface: 'wlan1', kind: 'wireless', dbm: -71 }]);
});

test('failed disks are reported', async () => {
  const simulator = await routers.simulate({ version: '7.18.2', sshPort: null });
  const disks = simulator.router.table('/disk');
  disks.add(Object.entries({ slot: 'nvme1', 'raid-member-failed': 'false', 'raid-member-state': '0:in_sync' }));
  disks.add(Object.entries({ slot: 'raid0', state: 'clean' }));
  disks.add(Object.entries({ slot: 'nvme0', 'raid-member-state': 'found raid superblock of a faulty array' }));
  disks.add(Object.entries({ slot: 'nvme2', 'raid-member-failed': 'true' }));
  disks.add(Object.entries({ slot: 'nvme3', 'raid-member-state': '1:faulty,write_error' }));
  disks.add(Object.entries({ slot: 'raid1', state: 'inactive' }));
  disks.add(Object.entries({ slot: 'nvme4', 'critical-warning': 'spare-space' }));
  expect((await read(simulator)).bad_disks).toEqual([
    { name: 'nvme2', state: 'raid-member-failed' },
    { name: 'nvme3', state: 'faulty' },
    { name: 'raid1', state: 'inactive' },
    { name: 'nvme4', state: 'spare-space' },
  ]);
});

test('a router without these menus is not asked again every minute', async () => {
  const simulator = await routers.simulate({ version: '7.18.2', model: 'CHR', sshPort: null });
  const adapter = await routers.adapter(routers.config(simulator));
  await reachable(adapter);
  const asked: string[] = [];
  const command = adapter.command.bind(adapter);
  adapter.command = (wanted, deadline) => {
    asked.push(wanted.path);
    return command(wanted, deadline);
  };
  const reader = new RouterReader(adapter, routers.clock);
  await reader.readHealth(AbortSignal.timeout(20_000));
  asked.length = 0;
  await reader.readHealth(AbortSignal.timeout(20_000));
  expect(asked.filter((path) => /poe|lte/.test(path))).toEqual([]);
});

test('states of a router are cleaned before they are reported', async () => {
  const simulator = await routers.simulate({ version: '7.18.2', sshPort: null });
  const long = 'x'.repeat(10_000);
  simulator.router.table('/disk').add(Object.entries({ slot: 'nv\0me1\u001B', state: 'bro\0ken' }));
  simulator.router.table('/disk').add(Object.entries({ slot: long, state: 'inactive' }));
  simulator.setPoeOut('ether2', 'short\0-circuit\u0007');
  const readings = await read(simulator);
  expect(readings.bad_disks).toEqual([
    { name: 'nvme1', state: 'broken' },
    { name: 'x'.repeat(64), state: 'inactive' },
  ]);
  expect(readings.poe).toEqual([{ interface: 'ether2', status: 'short-circuit' }]);
  const sensors = readHealth([
    { name: 'psu1\0-state', value: 'fa\u001Bil', type: '' },
    { name: 'fan1\u202E-speed', value: '0', type: 'RPM' },
    { name: 'psu2\u0007-voltage', value: '12', type: 'V' },
  ]);
  expect(sensors.states).toEqual([{ name: 'psu1-state', state: 'fail' }]);
  expect(sensors.fans).toEqual([{ name: 'fan1-speed', rpm: 0 }]);
  expect(sensors.supplies).toEqual([{ name: 'psu2-voltage', volts: 12 }]);
});
