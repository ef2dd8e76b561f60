import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AgentEpochs } from '../../server/fleet/agents/epochs.ts';
import { AgentHolders } from '../../server/fleet/agents/holders.ts';
import { WatchRights } from '../../server/fleet/agents/watch-rights.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { StatesService } from '../../server/fleet/states/service.ts';
import { ToldStates } from '../../server/fleet/states/told.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { Listeners } from '../../server/platform/core/listeners.ts';
import { Members } from '../../server/platform/nodes/members.ts';
import { SharedLook } from '../../server/platform/nodes/shared-look.ts';
import { deleteNode, insertNode } from '../../server/platform/nodes/store.ts';
import type { EndedBy } from '../../server/platform/core/tunnel-record.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { MemoryBus } from '../harness/cluster/memory-bus.ts';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START = 1_700_000_000_000;
const OFFLINE_AFTER_MS = 20_000;
const NODES = ['node-a', 'node-b'];

/** What two control planes know of one router, on one database and over a bus that can be away. */
describe.skipIf(!postgres)('facts of an agent at two control planes', () => {
  let storage: Storage;
  let bus: MemoryBus;
  let clock: ManualClock;
  let place: SeededRouter;
  let epoch: number;
  let a: Awaited<ReturnType<typeof node>>;
  let b: Awaited<ReturnType<typeof node>>;
  let closers: (() => Promise<void>)[];

  async function node(nodeId: string) {
    const gone = new Listeners<string>();
    const members = new Members(nodeId, NODES);
    const deps = { storage, clock, log: silentLog };
    const looks = new SharedLook(deps);
    closers.push(() => looks.stop());
    looks.start();
    const cluster = { nodeId, bus: bus.connect(), looks, members, gone };
    const epochs = new AgentEpochs(storage, clock, 0, nodeId);
    const holders = new AgentHolders({ ...deps, cluster });
    const rights = new WatchRights(nodeId);
    const routers = new RoutersService({ ...deps, rules: { offlineAfterMs: OFFLINE_AFTER_MS }, cluster, holders });
    const runs = { former: undefined, currentId: undefined };
    const timing = { offlineAfterMs: OFFLINE_AFTER_MS, keepMs: 400 * 24 * 3_600_000 };
    const states = new StatesService({ ...deps, ...timing, routers, runs, shared: { rights, othersServe: () => true } });
    const told = new ToldStates({ ...deps, ...timing, cluster, holders, states });
    const rules = { heartbeatMs: 5000, offlineAfterMs: OFFLINE_AFTER_MS };
    const faults = new FaultsService({ ...deps, rules, routers, states, sharing: { holders, members, rights } });
    for (const part of [holders, routers, states, told, faults]) {
      await part.start();
      closers.push(() => part.stop());
    }
    const connection = () => ({ agentId: place.agentId, teamId: place.teamId, epoch, address: '198.51.100.7', reset: false });
    return {
      states,
      faults,
      holders,
      routers,
      members,
      gone,
      get state() {
        return states.of(place.routerId)?.state;
      },
      /** The agent's tunnel becomes ready here, and its router answers. */
      connect: async () => {
        epoch += 1;
        await storage.db.updateTable('agents').set({ epoch }).where('id', '=', place.agentId).execute();
        expect(await epochs.confirm(place.agentId, epoch, 'journal')).toBe(true);
        holders.onStored(place.agentId);
        await routers.onReady(connection());
        await told.onReady(connection());
        await faults.onReady(connection());
        const report = { name: `router ${place.routerId}`, reachable: true, uptime_seconds: null, reason: null };
        const heartbeat = { type: 'heartbeat' as const, routers: [report] };
        routers.onHeartbeat(connection(), heartbeat);
        states.onHeartbeat(connection(), heartbeat);
        faults.onHeartbeat(connection(), heartbeat);
        await states.history.stored();
      },
      /** The tunnel of this epoch ends here. */
      end: async (endedBy: EndedBy, of = epoch, isRevoked = false) => {
        const past = { ...connection(), epoch: of };
        const now = clock.now();
        faults.onGone(past);
        told.onGone(past, { endedBy, at: now, lastHeardAt: now, ...(isRevoked ? { isRevoked } : {}) });
        routers.onGone(past);
        await epochs.end(place.agentId, of);
        holders.onStored(place.agentId);
        await states.history.stored();
      },
    };
  }

  beforeEach(async () => {
    closers = [];
    const { url, remove } = await postgres!.createMigrated();
    storage = await openStorage(url, { log: silentLog });
    closers.push(async () => {
      await storage.close();
      await remove();
    });
    bus = new MemoryBus();
    clock = new ManualClock(START);
    place = await seedRouter(storage, { now: START });
    epoch = 0;
    for (const id of NODES)
      await storage.writes.write((tx) =>
        insertNode(tx, {
          id,
          name: id,
          version: '1',
          process: null,
          beat: 0,
          public_url: 'http://127.0.0.1',
          started_at: START,
          program_schema: null,
          keys: null,
        }),
      );
    a = await node('node-a');
    b = await node('node-b');
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  /** Lets time pass until then. */
  function until(what: string, holds: () => boolean | Promise<boolean>): Promise<boolean> {
    return waitUntil(what, async () => {
      if (await holds()) return true;
      clock.advance(500);
      return false;
    });
  }

  async function storedStates(): Promise<{ state: string; until: number | null }[]> {
    return storage.db
      .selectFrom('router_state_changes')
      .select(['state', 'until'])
      .where('router_id', '=', place.routerId)
      .orderBy('since')
      .orderBy('id')
      .execute();
  }

  async function storedFaults(): Promise<{ type: string; resolved_at: number | null; occurrences: number }[]> {
    return storage.db.selectFrom('faults').select(['type', 'resolved_at', 'occurrences']).execute();
  }

  test('are told at once by a hint, and while the bus is away by a look within five seconds', async () => {
    await a.connect();
    // Only the time for which hints are gathered passes.
    clock.advance(100);
    await waitUntil('the other knows the state', () => b.state === 'answering');
    expect(b.holders.isElsewhere(place.agentId)).toBe(true);
    bus.isUp = false;
    await a.end('left');
    clock.advance(5000);
    await waitUntil('the other knows that it is away', () => b.state === 'agent_away');
    expect(b.states.of(place.routerId)).toEqual(a.states.of(place.routerId));
  });

  test('are away at once when another machine replaces the agent: there is no newer tunnel yet', async () => {
    await a.connect();
    await until('the other knows the state', () => b.state === 'answering');
    await a.end('replaced', epoch, true);
    await until('both know that it is away', () => a.state === 'agent_away' && b.state === 'agent_away');
  });

  test('stay as the newer tunnel says when the control plane with the older one notices its end', async () => {
    await a.connect();
    await until('the other knows the state', () => b.state === 'answering');
    bus.isUp = false;
    const older = epoch;
    await b.connect();
    // It has heard nothing of the newer tunnel: its own was cut without a word.
    await a.end('silence', older);
    await until('it shows what the other has stored', () => a.state === 'answering');
    expect((await storedStates()).map(({ state }) => state)).not.toContain('agent_away');
    expect((await storedStates()).filter(({ until: end }) => end === null)).toHaveLength(1);
  });

  test('come right when the former control plane has stored something at the very moment of the take-over', async () => {
    await a.connect();
    await b.connect();
    const at = clock.now();
    await storage.db.updateTable('router_state_changes').set({ until: at }).where('until', 'is', null).execute();
    const late = { id: newId(at + 1), team_id: place.teamId, router_id: place.routerId, state: 'agent_away', reason: 'silence' };
    await storage.db
      .insertInto('router_state_changes')
      .values({ ...late, since: at, until: null })
      .execute();
    await until('one state is open, that of the tunnel', async () => {
      await b.states.history.stored();
      const open = (await storedStates()).filter(({ until: end }) => end === null);
      return open.length === 1 && open[0]!.state === 'answering';
    });
    expect(b.state).toBe('answering');
  });

  test('a fault is not opened by a control plane that has missed that the agent is back', async () => {
    await a.connect();
    await until('the other knows it', () => b.holders.isElsewhere(place.agentId));
    bus.isUp = false;
    await a.end('left');
    await until('both know that it is away', () => a.state === 'agent_away' && b.state === 'agent_away');
    const watcher = [a, b].find(({ members }) => members.isOwn(place.agentId))!;
    const other = watcher === a ? b : a;
    await until('one of them watches it', () => watcher.holders.isOwnAway(place.agentId));
    await other.connect();
    // Without a moment in which it could read, more than the usual time passes.
    clock.advance(2 * OFFLINE_AFTER_MS);
    await watcher.faults.stored();
    // The other may find at once that nothing was heard of the router meanwhile.
    expect((await storedFaults()).filter(({ type }) => type !== 'router_offline')).toEqual([]);
  });

  test('an agent that nobody has keeps its one fault when the watcher dies, and the next one resolves it', async () => {
    await a.connect();
    await a.end('left');
    await until('the fault is open', async () => (await storedFaults()).length === 1);
    const [watcher, other] = a.members.isOwn(place.agentId) ? [a, b] : [b, a];
    const watcherId = watcher === a ? 'node-a' : 'node-b';
    await storage.writes.write((tx) => deleteNode(tx, { id: watcherId }));
    other.members.set(NODES.filter((id) => id !== watcherId));
    other.gone.publish(watcherId);
    clock.advance(3 * OFFLINE_AFTER_MS);
    await other.connect();
    await other.faults.stored();
    await until('it is resolved', async () => (await storedFaults())[0]?.resolved_at !== null);
    expect(await storedFaults()).toMatchObject([{ type: 'agent_offline', occurrences: 1 }]);
  });

  test('an agent that is lost with its control plane is away only after the usual time to come back', async () => {
    await a.connect();
    await until('the other knows the state', () => b.state === 'answering');
    await storage.writes.write((tx) => deleteNode(tx, { id: 'node-a' }));
    b.members.set(['node-b']);
    b.gone.publish('node-a');
    const goneAt = clock.now();
    await until('it is away', () => b.state === 'agent_away');
    expect(clock.now() - goneAt).toBeGreaterThanOrEqual(OFFLINE_AFTER_MS);
    expect(b.states.of(place.routerId)).toMatchObject({ since: goneAt, reason: 'unknown' });
    await until('its fault is open', async () => (await storedFaults()).length === 1);
    expect(await storedFaults()).toMatchObject([{ type: 'agent_offline', resolved_at: null }]);
  });
});
