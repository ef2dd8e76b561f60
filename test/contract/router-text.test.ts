import { expect, test } from 'vitest';
import { decodeAgentMessage } from '../../protocol/index.ts';
import { Manufacturers } from '../../server/fleet/devices/manufacturers.ts';
import { DevicesService } from '../../server/fleet/devices/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { notifyFeatures } from '../../server/platform/tunnel/events.ts';
import type { EventMessage } from '../../server/platform/tunnel/events.ts';
import type { AgentConnection, AgentEvents } from '../../server/platform/core/agent-gateway.ts';
import { listEveryRouter } from '../harness/list-routers.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** What an agent passes on without cleaning it: an old one, or one that nobody should trust. */
describeEachDatabase('hostile text', (open) => {
  async function world() {
    const storage = await open();
    const clock = new ManualClock(1_700_000_000_000);
    const { teamId } = await seedTeam(storage);
    const connection: AgentConnection = {
      agentId: await seedAgent(storage, teamId),
      teamId,
      epoch: 1,
      address: '198.51.100.7',
      reset: false,
    };
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const devices = new DevicesService({ storage, clock, log: silentLog, routers, manufacturers: new Manufacturers() });
    const events = {
      onInventory: async (from, message) => void (await routers.onInventory(from, message)),
      onDevices: (from, message) => devices.onDevices(from, message),
      onHeartbeat: (from, message) => routers.onHeartbeat(from, message),
    } satisfies Partial<AgentEvents> as unknown as AgentEvents;
    await routers.onReady(connection);
    /** As it comes out of the tunnel. */
    const hear = async (message: object): Promise<void> => {
      const decoded = decodeAgentMessage(JSON.stringify(message));
      if (decoded.kind !== 'message') throw new Error(JSON.stringify(decoded));
      await notifyFeatures(events, connection, decoded.message as EventMessage);
    };
    const page = { limit: 100, before: undefined };
    return {
      hear,
      routers: () => listEveryRouter(routers, teamId),
      devices: async () =>
        (await devices.listDevices(teamId, {}, page)).map(({ device: { mac, hostname, current } }) => ({
          mac,
          hostname,
          ip: current?.ipAddress ?? null,
        })),
      uptime: (id: string) => routers.presence.get(id).uptimeSeconds,
    };
  }

  const FACTS = {
    hardware_id: 'SER\0IAL',
    serial_number: 'SER\0IAL',
    software_id: null,
    identity: 'br\0anch\u001B',
    software_version: '7.18.2\0',
    model: 'hAP\0',
    board_name: 'hAP',
    hardware_board: true,
    architecture: 'arm',
    time_zone: '../../etc/passwd',
    uptime: '-5s',
    uptime_seconds: -5,
  };

  test('in identity, version or serial: the router appears, cleaned, and its facts are facts', async () => {
    const { hear, routers, uptime } = await world();
    await hear({ type: 'heartbeat', routers: [{ name: 'one', reachable: true, uptime_seconds: -5, reason: 'n\0o' }] });
    await hear({ type: 'inventory', router: 'one', facts: FACTS });
    const [router] = await routers();
    expect(router).toMatchObject({
      hardware_id: 'SERIAL',
      serial_number: 'SERIAL',
      identity: 'branch',
      software_version: '7.18.2',
      model: 'hAP',
      time_zone: null,
    });
    expect(uptime(router!.id)).toBeNull();
  });

  test('in one host name or interface: its neighbours are stored, and what comes after it', async () => {
    const { hear, devices } = await world();
    await hear({ type: 'inventory', router: 'one', facts: FACTS });
    const report = { type: 'devices', router: 'one', kind: 'full', first: true, last: true, gone: [] };
    const [first, second, third] = ['AA:00:00:00:00:01', 'AA:00:00:00:00:02', 'AA:00:00:00:00:03'];
    await hear({
      ...report,
      devices: [
        { mac: first, ip: '10.0.0.1', hostname: 'camera' },
        { mac: second, ip: '999.1.1.1', interface: 'ether\0', hostname: 'prin\0ter\uD83D' },
      ],
    });
    await hear({
      ...report,
      kind: 'delta',
      first: false,
      last: false,
      devices: [{ mac: third, ip: '10.0.0.3', hostname: 'x'.repeat(5000) }],
    });
    const listed = await devices();
    expect(listed.toSorted((a, b) => a.mac.localeCompare(b.mac))).toEqual([
      { mac: first, hostname: 'camera', ip: '10.0.0.1' },
      { mac: second, hostname: 'printer\uFFFD', ip: null },
      { mac: third, hostname: 'x'.repeat(255), ip: '10.0.0.3' },
    ]);
  });
});
