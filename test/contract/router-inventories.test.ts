import { expect, test, vi } from 'vitest';
import type { Inventory } from '../../protocol/index.ts';
import type { Sighted } from '../../server/fleet/routers/moves/service.ts';
import { Sightings } from '../../server/fleet/routers/moves/sightings.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { storageUnavailable } from '../../server/platform/storage/storage-errors.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

function factsOf(hardware: string, identity: string): Inventory['facts'] {
  return {
    hardware_id: hardware,
    serial_number: hardware,
    software_id: null,
    identity,
    software_version: '7.18.2',
    model: null,
    board_name: 'hEX',
    hardware_board: true,
    architecture: 'mmips',
    time_zone: null,
    uptime: '1d',
    uptime_seconds: 86_400,
  };
}

/** After a restart of the control plane all agents report all of their routers again, and hardly any has changed. */
describeEachDatabase('an inventory after a reconnect', (open) => {
  async function world(limits: { maxPerTeam?: number } = {}) {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const routers = new RoutersService({
      ...limits,
      storage,
      clock: new ManualClock(),
      log: silentLog,
      rules: { offlineAfterMs: 75_000 },
      moves: { free: false, afterMs: 3_600_000 },
    });
    const connection = (agentId: string) => ({ agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false, routers: [] });
    return {
      storage,
      routers,
      teamId,
      agent: () => seedAgent(storage, teamId),
      connect: (agentId: string) => routers.onReady(connection(agentId)),
      report: async (agentId: string, name: string, hardware: string, identity = 'riga') =>
        (await routers.onInventory(connection(agentId), { type: 'inventory', router: name, facts: factsOf(hardware, identity) }))?.id,
      writes: () => vi.spyOn(storage.writes, 'write'),
    };
  }

  test('that says what is stored is not written', async () => {
    const { agent, connect, report, writes, routers } = await world();
    const agentId = await agent();
    await connect(agentId);
    const id = await report(agentId, 'branch', 'SERIAL1');
    await connect(agentId);
    const write = writes();
    expect(await report(agentId, 'branch', 'SERIAL1')).toBe(id);
    expect(write).not.toHaveBeenCalled();
    expect(routers.routerIdOf(agentId, 'branch')).toBe(id);
  });

  test('that says what is stored reads nothing, also in a team that has as many routers as it may', async () => {
    const { agent, connect, report } = await world({ maxPerTeam: 3 });
    const agentId = await agent();
    await connect(agentId);
    const names = ['one', 'two', 'three'];
    for (const name of names) await report(agentId, name, name);
    await connect(agentId);
    const statements = await countStatements(async () => {
      for (const name of names) expect(await report(agentId, name, name)).toBeDefined();
    });
    expect(statements).toBe(0);
    await expect(report(agentId, 'four', 'four')).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  test('is refused in a full team when another device answers under a known name, or the router was removed meanwhile', async () => {
    const { agent, connect, report, routers, storage } = await world({ maxPerTeam: 1 });
    const agentId = await agent();
    await connect(agentId);
    const id = (await report(agentId, 'branch', 'SERIAL1'))!;
    await connect(agentId);
    await expect(report(agentId, 'branch', 'SERIAL2')).rejects.toMatchObject({ code: 'quota_exceeded' });
    await connect(agentId);
    await storage.db.updateTable('routers').set({ removed_at: 1 }).where('id', '=', id).execute();
    routers.forget(id);
    await expect(report(agentId, 'branch', 'SERIAL1')).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  test('is written when a fact or the device is another one', async () => {
    const { agent, connect, report, routers, teamId } = await world();
    const agentId = await agent();
    await connect(agentId);
    const id = (await report(agentId, 'branch', 'SERIAL1'))!;
    await connect(agentId);
    expect(await report(agentId, 'branch', 'SERIAL1', 'riga-main')).toBe(id);
    expect((await routers.getRouter(teamId, id)).identity).toBe('riga-main');
    await connect(agentId);
    expect(await report(agentId, 'branch', 'SERIAL2')).not.toBe(id);
    expect((await routers.getRouter(teamId, id)).agent_router).toBe('');
  });

  test('is compared with the database once: later ones are written', async () => {
    const { agent, connect, report, writes } = await world();
    const agentId = await agent();
    await connect(agentId);
    await report(agentId, 'branch', 'SERIAL1');
    await connect(agentId);
    await report(agentId, 'branch', 'SERIAL1');
    const write = writes();
    await report(agentId, 'branch', 'SERIAL1');
    expect(write).toHaveBeenCalledOnce();
  });

  test('of a router that was removed meanwhile is written', async () => {
    const { agent, connect, report, routers, writes } = await world();
    const agentId = await agent();
    await connect(agentId);
    const id = (await report(agentId, 'branch', 'SERIAL1'))!;
    await connect(agentId);
    routers.forget(id);
    const write = writes();
    await report(agentId, 'branch', 'SERIAL1');
    expect(write).toHaveBeenCalledOnce();
  });

  test('of a router that was removed while the agent connected is written', async () => {
    const { agent, connect, report, routers, writes } = await world();
    const agentId = await agent();
    await connect(agentId);
    const id = (await report(agentId, 'branch', 'SERIAL1'))!;
    const connecting = connect(agentId);
    routers.forget(id);
    await connecting;
    const write = writes();
    await report(agentId, 'branch', 'SERIAL1');
    expect(write).toHaveBeenCalledOnce();
  });

  test("withdraws the agent's claim under this name, as before", async () => {
    const { agent, connect, report, routers, teamId } = await world();
    const [owner, claimer] = [await agent(), await agent()];
    for (const agentId of [owner, claimer]) await connect(agentId);
    await report(owner, 'branch', 'SERIAL1');
    const own = await report(claimer, 'depot', 'SERIAL2');
    expect(await report(claimer, 'spare', 'SERIAL1')).toBeUndefined();
    expect(await routers.moves.claimsOf(teamId, claimer)).toHaveLength(1);
    await connect(claimer);
    expect(await report(claimer, 'spare', 'SERIAL2')).toBe(own);
    expect(await routers.moves.claimsOf(teamId, claimer)).toEqual([]);
  });
});

describeEachDatabase('inventories of many agents at once', (open) => {
  async function world() {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const clock = new ManualClock();
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const report = async (agentId: string, hardware: string, identity = 'riga') => {
      const connection = { agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false, routers: [] };
      return (await routers.onInventory(connection, { type: 'inventory', router: 'branch', facts: factsOf(hardware, identity) }))?.id;
    };
    const agents: string[] = [];
    for (let count = 0; count < 60; count += 1) agents.push(await seedAgent(storage, teamId));
    return { storage, teamId, agents, report };
  }

  test('are stored in a few transactions', async () => {
    const { storage, agents, report } = await world();
    const write = vi.spyOn(storage.writes, 'write');
    const ids = await Promise.all(agents.map((agentId, index) => report(agentId, `SERIAL${index}`)));
    expect(new Set(ids).size).toBe(agents.length);
    expect(ids).not.toContain(undefined);
    expect(write.mock.calls.length).toBeLessThan(5);
  });

  test.each([
    ['40P01', 'fulfilled'],
    ['55P03', 'fulfilled'],
    ['57P01', 'rejected'],
  ])('that the database answers %s are %s: those are tried again for which another transaction was in the way', async (code, status) => {
    const { storage, teamId, agents } = await world();
    const sightings = new Sightings(storage, async (_tx, { newId: id }) => ({ id }) as unknown as Sighted);
    vi.spyOn(storage.writes, 'write').mockRejectedValueOnce(storageUnavailable(Object.assign(new Error('refused'), { code })));
    const outcomes = await Promise.allSettled(
      agents
        .slice(0, 5)
        .map(async (agentId) =>
          sightings.store({ newId: agentId, teamId, agentId, agentEntry: 'branch', address: '', facts: factsOf('S', 'r'), now: 0 }),
        ),
    );
    expect(new Set(outcomes.map((outcome) => outcome.status))).toEqual(new Set([status]));
  });

  test('that one of them cannot be stored fails this one alone', async () => {
    const { agents, report } = await world();
    // NUL bytes are refused by both databases.
    const reports = agents.slice(0, 5).map((agentId, index) => report(agentId, `SERIAL${index}`, index === 2 ? 'bad\0' : 'riga'));
    const outcomes = await Promise.allSettled(reports);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });
});

/** Numbers from a fixed seed, so that a failure comes again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describeEachDatabase('inventories that come together', (open) => {
  async function world(agentCount: number) {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const routers = new RoutersService({
      storage,
      clock: new ManualClock(),
      log: silentLog,
      rules: { offlineAfterMs: 75_000 },
      moves: { free: false, afterMs: 3_600_000 },
    });
    const agents: string[] = [];
    for (let count = 0; count < agentCount; count += 1) agents.push(await seedAgent(storage, teamId));
    const connectionOf = (agentId: string) => ({ agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false });
    for (const agentId of agents) await routers.onReady(connectionOf(agentId));
    return {
      /** @returns whose router it is now */
      report: async (agent: number, name: string, hardware: string) => {
        const inventory = { type: 'inventory' as const, router: name, facts: factsOf(hardware, hardware) };
        const router = await routers.onInventory(connectionOf(agents[agent]!), inventory);
        return router ? [agents.indexOf(router.agent_id), router.agent_router, router.hardware_id] : undefined;
      },
      /** What is stored, in words that are the same in both worlds. */
      stored: async () => {
        const known = await storage.db.selectFrom('routers').selectAll().execute();
        const claims = await storage.db.selectFrom('router_moves').selectAll().execute();
        const hardwareOf = new Map(known.map(({ id, hardware_id: hardware }) => [id, hardware]));
        return {
          routers: known.map((row) => [agents.indexOf(row.agent_id), row.agent_router, row.hardware_id, row.identity].join(' ')).toSorted(),
          claims: claims
            .map((row) => [agents.indexOf(row.agent_id), row.agent_router, hardwareOf.get(row.router_id), row.state].join(' '))
            .toSorted(),
        };
      },
    };
  }

  test('are stored as if each came by itself: new devices, known ones, other spellings, names and agents', async () => {
    const AGENTS = 12;
    const number = numbers(20_251_123);
    const together = await world(AGENTS);
    const singly = await world(AGENTS);
    // The first report of a team counts its routers: afterwards they are looked at in the order in which they come.
    for (const { report } of [together, singly]) await report(0, 'router 0', 'FIRST');
    for (let round = 0; round < 12; round += 1) {
      const reports = Array.from({ length: AGENTS }, (_, agent) => {
        const serial = `SERIAL${number(10 + round * 4)}`;
        return { agent, name: `router ${number(2)}`, hardware: number(4) === 0 ? serial.toLowerCase() : serial };
      });
      const outcomes = await Promise.all(reports.map(({ agent, name, hardware }) => together.report(agent, name, hardware)));
      for (const [index, { agent, name, hardware }] of reports.entries())
        expect(outcomes[index], `round ${round}, ${JSON.stringify(reports[index])}`).toEqual(await singly.report(agent, name, hardware));
      expect(await together.stored()).toEqual(await singly.stored());
    }
  });
});
