import { expect, test } from 'vitest';
import type { HealthReadings } from '../../protocol/index.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MIDNIGHT = Date.UTC(2026, 10, 20);

/** A router with a clock of its own, as its agent sees it. */
interface Device {
  hardwareId: string;
  identity: string;
  bootedAt: number;
  reachable: boolean;
  clockOffsetSeconds: number;
  cpuLoad: number;
  celsius: number;
  wanUp: boolean;
}

const well: Omit<Device, 'hardwareId' | 'identity' | 'bootedAt'> = {
  reachable: true,
  clockOffsetSeconds: 0,
  cpuLoad: 4,
  celsius: 45,
  wanUp: true,
};

describeEachDatabase('24 hours of a router', (open) => {
  test('read as an engineer would have written them down', async () => {
    const storage = await open();
    const clock = new ManualClock(MIDNIGHT);
    const { teamId } = await seedTeam(storage);
    const agentId = await seedAgent(storage, teamId);
    const connection = { agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false };
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75 * SECOND } });
    const faults = new FaultsBench({
      storage,
      clock,
      log: silentLog,
      routers,
      rules: { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND },
    });
    await faults.start();
    let device: Device = { ...well, hardwareId: 'OLD', identity: 'riga-1', bootedAt: MIDNIGHT - 30 * 24 * HOUR };
    let agentIsThere = true;

    const uptime = (): number => Math.floor((clock.now() - device.bootedAt) / SECOND);
    const beat = (): void => {
      const { reachable } = device;
      const routerHeartbeat = {
        name: 'r1',
        reachable,
        uptime_seconds: reachable ? uptime() : null,
        reason: reachable ? null : 'connection timed out',
      };
      faults.onHeartbeat(connection, { type: 'heartbeat', routers: [routerHeartbeat] });
    };
    /** As an agent does it when a router comes: who it is, and that it is there. */
    const introduce = async (): Promise<string> => {
      const facts = {
        hardware_id: device.hardwareId,
        serial_number: device.hardwareId,
        software_id: null,
        identity: device.identity,
        software_version: '7.18.2',
        model: 'RB750Gr3',
        board_name: 'hEX',
        hardware_board: true,
        architecture: 'mmips',
        time_zone: null,
        uptime: '1d',
        uptime_seconds: uptime(),
      };
      const router = (await routers.onInventory(connection, { type: 'inventory', router: 'r1', facts }))!;
      faults.onInventory(connection, router);
      beat();
      return router.id;
    };
    const readings = (): HealthReadings => ({
      cpu_load: device.cpuLoad,
      temperatures: [{ name: 'temperature', celsius: device.celsius }],
      voltage: 24,
      free_memory: 1,
      total_memory: 2,
      free_hdd: 8_000_000,
      total_hdd: 16_000_000,
      clock_offset_seconds: device.clockOffsetSeconds,
      wan: [{ interface: 'ether1', running: device.wanUp }],
      position: null,
    });
    /** Lives until so many minutes after midnight: a heartbeat every 30 s, readings every minute. */
    const until = (minutes: number): void => {
      for (let turn = 0; clock.now() < MIDNIGHT + minutes * MINUTE; turn += 1) {
        clock.advance(30 * SECOND);
        if (!agentIsThere) continue;
        beat();
        if (device.reachable && turn % 2 === 0) faults.onHealth(connection, { type: 'health', router: 'r1', readings: readings() });
      }
    };
    const at = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

    await routers.onReady(connection);
    await faults.onReady(connection);
    const old = await introduce();

    // 02:00 a power cut of ten minutes; the router has no battery, and finds the time again after three.
    until(at('02:00'));
    device.reachable = false;
    until(at('02:10'));
    device = { ...device, reachable: true, bootedAt: clock.now() - 40 * SECOND, clockOffsetSeconds: -1_700_000_000 };
    await introduce();
    until(at('02:13'));
    device.clockOffsetSeconds = 1;
    // 05:00 an update: a short reboot that nobody needs to call an outage. A backup keeps the processor busy for two minutes.
    until(at('05:00'));
    device.cpuLoad = 100;
    until(at('05:02'));
    device.cpuLoad = 4;
    device.reachable = false;
    until(at('05:03'));
    device = { ...device, reachable: true, bootedAt: clock.now() - 20 * SECOND };
    await introduce();
    // 08:00 it gets another name and address. 09:00 the provider's line flaps for an hour.
    until(at('08:00'));
    device.identity = 'riga-main';
    await introduce();
    until(at('09:00'));
    for (let minute = at('09:00'); minute < at('10:00'); minute += 6) {
      device.wanUp = false;
      until(minute + 3);
      device.wanUp = true;
      until(minute + 6);
    }
    // 13:00 the cabinet gets hot for half an hour; meanwhile somebody copies a large file through the processor.
    until(at('13:00'));
    device.celsius = 84;
    until(at('13:10'));
    device.cpuLoad = 97;
    until(at('13:30'));
    Object.assign(device, { celsius: 50, cpuLoad: 10 });
    // 16:00 the agent's machine is off for two hours; the router is not.
    until(at('16:00'));
    agentIsThere = false;
    faults.onGone(connection);
    until(at('18:00'));
    agentIsThere = true;
    await routers.onReady(connection);
    await faults.onReady(connection);
    // 21:00 the router is replaced by another one.
    until(at('21:00'));
    device = { ...well, hardwareId: 'NEW', identity: 'riga-main', bootedAt: clock.now() - MINUTE };
    const replacement = await introduce();
    until(at('24:00'));

    const diary = async (routerId: string): Promise<string[]> => {
      await faults.stored();
      const list = await faults.listFaults(teamId, routerId, { limit: 100, before: undefined });
      const time = (ms: number | null): string => (ms === null ? 'open' : new Date(ms).toISOString().slice(11, 16));
      return list.toReversed().map((fault) => {
        const times = fault.occurrences === 1 ? '' : ` (${fault.occurrences} times)`;
        return `${time(fault.created_at)}-${time(fault.resolved_at)} ${fault.type}${times}: ${fault.cause}`;
      });
    };
    expect(await diary(old)).toEqual([
      '02:00-02:10 router_offline: connection timed out',
      '02:09-02:10 rebooted: its uptime went back from 30 days 2 hours to 40 seconds',
      '02:10-02:13 clock_wrong: it is 53 years 330 days behind',
      '05:02-05:03 rebooted: its uptime went back from 2 hours 52 minutes to 20 seconds',
      '09:00-09:57 wan_down (10 times): ether1 not running, and there is no other',
      '13:00-13:30 temperature: temperature is 84 °C',
      '13:10-13:30 high_cpu: processor load is 97 %',
      '16:00-18:00 agent_offline: it has no tunnel to the control plane; whether the router answers is unknown',
      '21:00-open router_offline: its agent no longer reports it: it was removed there, or another device answers in its place',
    ]);
    expect(await diary(replacement)).toEqual([]);
    await faults.stop();
  });
});
