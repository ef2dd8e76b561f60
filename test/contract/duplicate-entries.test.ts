import { expect, test } from 'vitest';
import type { Inventory } from '../../protocol/index.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { storeInventory } from '../../server/compose/wires/inventory-intake.ts';
import { announceMoves } from '../../server/compose/wires/move-announcements.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { listEveryRouter } from '../harness/list-routers.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

function factsOf(hardware: string): Inventory['facts'] {
  return {
    hardware_id: hardware,
    serial_number: hardware,
    software_id: null,
    identity: hardware,
    software_version: '7.18.2',
    model: null,
    board_name: 'CHR',
    hardware_board: true,
    architecture: null,
    time_zone: null,
    uptime: '1d',
    uptime_seconds: 86_400,
  };
}

const nothing = () => undefined;

describeEachDatabase('entries of an agent', (open) => {
  async function setting() {
    const storage = await open();
    const clock = new ManualClock(1_700_000_000_000);
    const { teamId } = await seedTeam(storage);
    const agentId = await seedAgent(storage, teamId);
    const deps = { storage, clock, log: silentLog };
    const make = async () => {
      const routers = new RoutersService({ ...deps, rules: { offlineAfterMs: 75_000 }, moves: { free: false, afterMs: 600_000 } });
      const faults = new FaultsBench({ ...deps, rules: { heartbeatMs: 30_000, offlineAfterMs: 75_000 }, routers });
      await faults.start();
      const audience = {
        routers,
        faults,
        forwards: { onRouterSeen: nothing },
        audit: { record: nothing },
        eventSources: { onInventory: nothing, onMove: nothing },
        gateway: { notify: () => true },
        states: { onInventory: nothing, onEntryLost: nothing },
      };
      announceMoves(audience);
      return { routers, faults, audience };
    };
    let { routers, faults, audience } = await make();
    let connection: AgentConnection = { agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false, routers: ['a', 'b'] };
    const connect = async (names: string[]): Promise<void> => {
      connection = { ...connection, routers: names };
      await routers.onReady(connection);
      await faults.onReady(connection);
    };
    await connect(['a', 'b']);
    const page = { limit: 100, before: undefined };
    return {
      storage,
      teamId,
      connect,
      clock,
      say: (name: string, hardware: string, from = connection) =>
        storeInventory(
          from,
          { type: 'inventory', router: name, host: `192.0.2.${name.charCodeAt(0)}`, facts: factsOf(hardware) },
          audience,
        ),
      beat: (uptimes: Record<string, number>, from = connection) => {
        const beats = Object.entries(uptimes).map(([name, uptime]) => ({ name, reachable: true, uptime_seconds: uptime, reason: null }));
        routers.onHeartbeat(from, { type: 'heartbeat', routers: beats });
        faults.onHeartbeat(from, { type: 'heartbeat', routers: beats });
      },
      disconnect: () => {
        faults.onGone(connection);
        routers.onGone(connection);
      },
      restart: async () => {
        await faults.stop();
        ({ routers, faults, audience } = await make());
      },
      another: async (): Promise<AgentConnection> => {
        const other = { agentId: await seedAgent(storage, teamId), teamId, epoch: 1, address: '203.0.113.9', reset: false, routers: ['x'] };
        await routers.onReady(other);
        await faults.onReady(other);
        return other;
      },
      entries: async () => (await routers.entriesOf(teamId, agentId)).toSorted((one, two) => one.name.localeCompare(two.name)),
      speaksFor: (name: string) => routers.routerIdOf(agentId, name),
      routers: async () => new Map((await listEveryRouter(routers, teamId)).map((router) => [router.hardware_id, router])),
      open: async (routerId: string) => {
        await faults.stored();
        return (await faults.listFaults(teamId, routerId, page, 'open')).map(({ type, cause }) => ({ type, cause }));
      },
    };
  }

  test('that report one serial: the first keeps the router, the second is listed as a duplicate, and a fault names both', async () => {
    const { say, beat, entries, routers, open: faultsOf, speaksFor } = await setting();
    await say('a', 'SAME');
    await say('b', 'SAME');
    beat({ a: 90_000, b: 5 });
    const router = (await routers()).get('SAME')!;
    expect(router.agent_router).toBe('a');
    expect(speaksFor('b')).toBeUndefined();
    expect(await entries()).toEqual([
      { name: 'a', host: '192.0.2.97', routerId: router.id, reachable: true, reason: null, duplicateOf: null },
      {
        name: 'b',
        host: '192.0.2.98',
        routerId: null,
        reachable: true,
        reason: 'duplicate_serial',
        duplicateOf: { name: 'a', host: '192.0.2.97', routerId: router.id },
      },
    ]);
    const [fault, ...more] = await faultsOf(router.id);
    expect(more).toEqual([]);
    expect(fault).toMatchObject({ type: 'duplicate_serial' });
    expect(fault!.cause).toMatch(/^"a" \(192\.0\.2\.97\) has this router; "b" \(192\.0\.2\.98\) reports the same hardware id SAME/);
  });

  test('of which the second is another device after all: the fault is over', async () => {
    const { say, routers, open: faultsOf, entries } = await setting();
    await say('a', 'SAME');
    await say('b', 'SAME');
    await say('b', 'OTHER');
    const known = await routers();
    expect(await faultsOf(known.get('SAME')!.id)).toEqual([]);
    expect((await entries()).map(({ name, routerId, duplicateOf }) => [name, routerId, duplicateOf])).toEqual([
      ['a', known.get('SAME')!.id, null],
      ['b', known.get('OTHER')!.id, null],
    ]);
  });

  test('of which the first is another device now: the second gets the router, without being asked again', async () => {
    const { say, routers, open: faultsOf, speaksFor } = await setting();
    await say('a', 'SAME');
    await say('b', 'SAME');
    await say('a', 'OTHER');
    const known = await routers();
    expect([known.get('SAME')!.agent_router, known.get('OTHER')!.agent_router]).toEqual(['b', 'a']);
    expect(speaksFor('b')).toBe(known.get('SAME')!.id);
    expect(await faultsOf(known.get('SAME')!.id)).toEqual([]);
  });

  test('that have changed places keep both routers', async () => {
    const { say, routers, speaksFor, open: faultsOf } = await setting();
    await say('a', 'ONE');
    await say('b', 'TWO');
    await say('a', 'TWO');
    await say('b', 'ONE');
    const known = await routers();
    expect([speaksFor('a'), speaksFor('b')]).toEqual([known.get('TWO')!.id, known.get('ONE')!.id]);
    expect([...(await faultsOf(known.get('ONE')!.id)), ...(await faultsOf(known.get('TWO')!.id))]).toEqual([]);
  });

  test('one of which has another name since the restart of the agent is no duplicate', async () => {
    const { say, connect, disconnect, routers, open: faultsOf, entries } = await setting();
    await say('a', 'SAME');
    disconnect();
    await connect(['new', 'b']);
    await say('new', 'SAME');
    const router = (await routers()).get('SAME')!;
    expect(router.agent_router).toBe('new');
    expect(await faultsOf(router.id)).toEqual([]);
    expect((await entries()).map(({ name }) => name)).toEqual(['new']);
  });

  test('keep their fault over a restart of the control plane until one is out of the configuration', async () => {
    const { say, connect, disconnect, restart, routers, open: faultsOf } = await setting();
    await say('a', 'SAME');
    await say('b', 'SAME');
    const { id } = (await routers()).get('SAME')!;
    expect(await faultsOf(id)).toHaveLength(1);
    disconnect();
    await restart();
    await connect(['a', 'b']);
    await say('a', 'SAME');
    expect(await faultsOf(id)).toHaveLength(1);
    await say('b', 'SAME');
    expect(await faultsOf(id)).toHaveLength(1);
    disconnect();
    await restart();
    await connect(['a']);
    expect(await faultsOf(id)).toEqual([]);
  });

  test.each(['a duplicate of another entry', 'a router of another agent'])(
    'one of which answers as %s has no word on the router it had',
    async (what) => {
      const { say, beat, another, routers, open: faultsOf, storage, teamId } = await setting();
      const other = await another();
      if (what === 'a router of another agent') await say('x', 'SAME', other);
      else await say('a', 'SAME');
      await say('b', 'OWN');
      const own = (await routers()).get('OWN')!;
      beat({ b: 90_000 });
      await say('b', 'SAME');
      beat({ b: 5 });
      await faultsOf(own.id);
      const all = await storage.db
        .selectFrom('faults')
        .select(['type', 'router_id'])
        .where('team_id', '=', teamId)
        .where('router_id', '=', own.id)
        .execute();
      expect(all.map(({ type }) => type)).not.toContain('rebooted');
      expect((await routers()).get('OWN')!.agent_router).toBe('');
    },
  );

  test('of two agents that report one router: the fault names both agents and their addresses', async () => {
    const { say, another, routers, open: faultsOf, storage } = await setting();
    await say('a', 'SAME');
    const other = await another();
    await storage.db.updateTable('agents').set({ name: 'depot-new' }).where('id', '=', other.agentId).execute();
    await storage.db.updateTable('agents').set({ name: 'depot-old' }).where('id', '<>', other.agentId).execute();
    await say('x', 'SAME', other);
    const [fault] = await faultsOf((await routers()).get('SAME')!.id);
    expect(fault!.type).toBe('move_requested');
    expect(fault!.cause).toContain('agent "depot-new" (203.0.113.9) reports it as "x", agent "depot-old" (198.51.100.7) has it as "a".');
    expect(fault!.cause).not.toContain(other.agentId);
  });
});
