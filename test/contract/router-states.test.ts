import { expect, test } from 'vitest';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { ServerRuns } from '../../server/fleet/sessions/runs.ts';
import { SessionsService } from '../../server/fleet/sessions/service.ts';
import { NEW_STATES } from '../../server/fleet/states/history.ts';
import { StatesService } from '../../server/fleet/states/service.ts';
import { AdoptedClock } from '../../server/platform/core/adopted-clock.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { movePlans } from '../../server/platform/storage/move-plans.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { TunnelBench } from '../harness/tunnel-bench.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { RecordedEvents } from '../harness/recorded-events.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START = 1_700_000_000_000;
const HOUR = 3_600_000;

/** What keeps the history, as one life of the control plane builds it. */
async function life(storage: Storage, clock: AdoptedClock, place: SeededRouter) {
  const deps = { storage, clock, log: silentLog, keepMs: 400 * 24 * HOUR };
  const routers = new RoutersService({ ...deps, rules: { offlineAfterMs: 75_000 } });
  const runs = new ServerRuns(deps);
  const sessions = new SessionsService(deps);
  const states = new StatesService({ ...deps, routers, runs, offlineAfterMs: 75_000 });
  await routers.start();
  await runs.start();
  sessions.start();
  await states.start();
  const connection: AgentConnection = { agentId: place.agentId, teamId: place.teamId, epoch: 1, address: '198.51.100.7', reset: false };
  return {
    routers,
    runs,
    sessions,
    states,
    connection,
    connect: async () => {
      await routers.onReady(connection);
      states.onReady(connection);
    },
    say: (reachable: boolean, code?: 'timeout' | 'refused', router = place) => {
      const report = {
        name: `router ${router.routerId}`,
        reachable,
        uptime_seconds: null,
        reason: null,
        ...(code === undefined ? {} : { reason_code: code }),
      };
      const heartbeat = { type: 'heartbeat' as const, routers: [report] };
      routers.onHeartbeat(connection, heartbeat);
      states.onHeartbeat(connection, heartbeat);
    },
    state: () => states.of(place.routerId),
    /** What a kill leaves behind is what was flushed before. */
    flush: async () => {
      await states.history.stored();
    },
    stop: async () => {
      await states.stop();
      await sessions.stop();
      await runs.stop();
      await routers.stop();
    },
  };
}

/** The rows of a router in their order: state, reason, since, until, relative to the start of the test. */
async function rowsOf(storage: Storage, { routerId }: SeededRouter): Promise<unknown[]> {
  const rows = await storage.db
    .selectFrom('router_state_changes')
    .selectAll()
    .where('router_id', '=', routerId)
    .orderBy('since')
    .orderBy('id')
    .execute();
  return rows.map(({ state, reason, since, until }) => [state, reason, since - START, until === null ? null : until - START]);
}

describeEachDatabase('states of routers', (open) => {
  async function setting() {
    const storage = await open();
    const place = await seedRouter(storage, { now: START });
    const machine = new ManualClock(START);
    return { storage, place, machine, clock: new AdoptedClock(machine) };
  }

  test('a router without a history was never seen, and its states follow each other without a gap', async () => {
    const { storage, place, machine, clock } = await setting();
    const run = await life(storage, clock, place);
    expect(run.state()).toEqual({ state: 'never_seen', since: START, reason: null });
    machine.advance(1000);
    await run.connect();
    run.say(true);
    machine.advance(1000);
    run.say(false, 'timeout');
    machine.advance(1000);
    run.say(false, 'refused');
    machine.advance(1000);
    run.states.onGone(run.connection, { endedBy: 'network', at: clock.now(), lastHeardAt: clock.now() - 500 });
    await run.stop();
    expect(await rowsOf(storage, place)).toEqual([
      ['never_seen', null, 0, 1000],
      ['answering', null, 1000, 2000],
      ['not_answering', 'refused', 2000, 4000],
      ['agent_away', 'network', 4000, null],
    ]);
  });

  test('a router that changes all the time shows its present state, and fills no disk: now and then it gets a new row', async () => {
    const { storage, place, machine, clock } = await setting();
    const run = await life(storage, clock, place);
    await run.connect();
    // As fast as a hostile agent sends, for half an hour.
    for (let n = 0; n < 18_000; n += 1) {
      machine.advance(100);
      run.say(n % 2 === 0, 'timeout');
      if (n % 600 === 0) await run.flush();
      expect(run.state()).toEqual({
        state: n % 2 === 0 ? 'answering' : 'not_answering',
        since: clock.now(),
        reason: n % 2 === 0 ? null : 'timeout',
      });
    }
    await run.flush();
    const rows = (await rowsOf(storage, place)) as [string, string | null, number, number | null][];
    const { burst, perSecond } = NEW_STATES;
    expect(rows.length).toBeGreaterThan(burst);
    expect(rows.length).toBeLessThanOrEqual(burst + 1800 * perSecond + 1);
    // No time is missing or counted twice, whatever the state in it is said to be.
    for (const [index, [, , , until]] of rows.entries()) expect(until).toBe(rows[index + 1]?.[2] ?? null);
    expect(rows.at(-1)![0]).toBe('not_answering');
    await run.stop();
  });

  test('after a silent cut the moment is that of the last byte, and never before the state that it ends', async () => {
    const { storage, place, machine, clock } = await setting();
    const run = await life(storage, clock, place);
    await run.connect();
    run.say(true);
    machine.advance(50_000);
    run.states.onGone(run.connection, { endedBy: 'silence', at: clock.now(), lastHeardAt: clock.now() - 45_000 });
    expect(run.state()).toEqual({ state: 'agent_away', since: START + 5000, reason: 'silence' });
    await run.stop();
  });

  test('an agent that no longer speaks of a router loses it when the router loses its pulse', async () => {
    const { storage, place, machine, clock } = await setting();
    const run = await life(storage, clock, place);
    await run.connect();
    run.say(true);
    machine.advance(75_000);
    expect([run.state()?.state, run.routers.presence.isAnswering(place.routerId)]).toEqual(['answering', true]);
    machine.advance(1);
    // The counts do not wait for the next look at all routers either.
    expect(run.states.counts().get(place.teamId)).toEqual({ answering: 0, not_answering: 1, agent_away: 0, never_seen: 0 });
    expect([run.state()?.state, run.routers.presence.isAnswering(place.routerId)]).toEqual(['not_answering', false]);
    expect(run.state()).toMatchObject({ reason: 'not_reported', since: START });
    await run.stop();
  });

  test('after a stop the agent is away since the stop; what had been away stays so', async () => {
    const { storage, place, machine, clock } = await setting();
    const other = await seedRouter(storage, { now: START });
    const first = await life(storage, clock, place);
    await first.connect();
    first.say(true);
    machine.advance(10_000);
    await first.stop();
    machine.advance(HOUR);
    const second = await life(storage, clock, place);
    expect(second.state()).toEqual({ state: 'agent_away', since: START + 10_000, reason: 'server_stopped' });
    expect(second.states.of(other.routerId)).toEqual({ state: 'never_seen', since: START, reason: null });
    await second.connect();
    second.say(true);
    expect(second.state()).toMatchObject({ state: 'answering', since: START + 10_000 + HOUR });
    await second.stop();
  });

  test('what a start finds changed is told soon after, once others listen, unless it has changed again', async () => {
    const { storage, place, machine, clock } = await setting();
    const other = await seedRouter(storage, { teamId: place.teamId, agentId: place.agentId, now: START });
    const first = await life(storage, clock, place);
    await first.connect();
    first.say(true);
    first.say(true, undefined, other);
    await first.stop();
    machine.advance(HOUR);
    const second = await life(storage, clock, place);
    const told: unknown[] = [];
    second.states.changes.subscribe(({ routerId, state, reason }) => told.push([routerId, state, reason]));
    // One agent reports one of its routers before that.
    await second.connect();
    second.say(true);
    machine.advance(1000);
    expect(told).toEqual([
      [place.routerId, 'answering', null],
      [other.routerId, 'agent_away', 'server_stopped'],
    ]);
    machine.advance(1000);
    expect(told).toHaveLength(2);
    await second.stop();
  });

  test('a killed control plane leaves what it knew, and nothing open', async () => {
    const { storage, place, machine, clock } = await setting();
    const first = await life(storage, clock, place);
    const tunnel = {
      agentId: place.agentId,
      teamId: place.teamId,
      address: '::1',
      openedAt: START,
      readyAt: START,
      epoch: 1,
      agentVersion: '1',
      reset: false,
      bytesIn: 5,
      bytesOut: 6,
      end: undefined,
    };
    first.sessions.onOpened(tunnel);
    first.sessions.onProgress(tunnel);
    await first.sessions.list(place.teamId, place.agentId, { limit: 10, before: undefined });
    await first.connect();
    first.say(true);
    await first.flush();
    machine.advance(2000);
    const alive = async () => (await storage.db.selectFrom('server_runs').selectAll().executeTakeFirstOrThrow()).alive_at;
    await waitUntil('its sign of life is written', async () => (await alive()) === START + 2000);
    // Nobody stops it: its timers never run again, because the next life has another clock.
    const later = new AdoptedClock(new ManualClock(START + HOUR));
    const second = await life(storage, later, place);
    expect(second.state()).toEqual({ state: 'agent_away', since: START + 2000, reason: 'unknown' });
    const [session] = await second.sessions.list(place.teamId, place.agentId, { limit: 10, before: undefined });
    expect(session).toMatchObject({ ended_by: 'unknown', closed_at: START + 2000, bytes_in: null });
    await second.stop();
    const runs = await storage.db.selectFrom('server_runs').selectAll().orderBy('id').execute();
    expect(runs.map((run) => [run.started_at - START, run.alive_at - START, run.stopped_at === null])).toEqual([
      [0, 2000, true],
      [HOUR, HOUR, false],
    ]);
  });

  test.each([2 * HOUR, -2 * HOUR])('a step of the clock by %i ms does not change the age of a state', async (stepMs) => {
    const { storage, place, machine, clock } = await setting();
    const run = await life(storage, clock, place);
    await run.connect();
    run.say(true);
    machine.advance(10_000);
    machine.step(stepMs);
    await clock.adopt(async (ms, now) => {
      const afterCommit = await storage.writes.write(async (tx) => {
        await movePlans(tx, ms, now);
        return run.runs.onClockStep(tx, ms, now);
      });
      afterCommit();
      run.states.onClockStep(ms);
      run.sessions.onClockStep(ms);
    });
    expect(clock.now() - run.state()!.since).toBe(10_000);
    machine.advance(5000);
    run.say(false, 'timeout');
    await run.stop();
    const rows = (await rowsOf(storage, place)) as [string, string | null, number, number | null][];
    const answered = rows.find(([state]) => state === 'answering')!;
    expect(answered[3]! - answered[2]).toBe(15_000);
    const runs = await storage.db.selectFrom('server_runs').selectAll().orderBy('id').execute();
    expect(runs.map((each) => [each.started_at - START, (each.stopped_at ?? 0) - START])).toContainEqual([0, 10_000]);
  });

  test('a replaced router has the state of its new hardware, and a removed one has none', async () => {
    const { storage, place, machine, clock } = await setting();
    const fresh = await seedRouter(storage, { teamId: place.teamId, agentId: place.agentId, now: START });
    const run = await life(storage, clock, fresh);
    await run.connect();
    run.say(true);
    machine.advance(1000);
    const successor = await run.routers.getRouter(place.teamId, place.routerId);
    run.states.forget(fresh.routerId, successor);
    expect(run.states.of(place.routerId)).toEqual({ state: 'answering', since: START + 1000, reason: null });
    expect(run.state()).toBeUndefined();
    run.states.forget(place.routerId);
    expect(run.states.of(place.routerId)).toBeUndefined();
    await run.stop();
    const openRows = await storage.db.selectFrom('router_state_changes').selectAll().where('until', 'is', null).execute();
    expect(openRows).toEqual([]);
  });
});

test('a line that swallows everything ends by silence, with the moment of its last byte', async () => {
  const ends: unknown[] = [];
  const events = new RecordedEvents({ onGone: (_connection, end) => void ends.push(end) });
  const bench = new TunnelBench(events);
  const socket = bench.connect();
  socket.say(bench.hello());
  await waitUntil('it was greeted', () => socket.last('welcome'));
  socket.say({ type: 'ready', epoch: socket.last('welcome')!.epoch, journal_id: bench.journalId, jobs: [] });
  await waitUntil('it is ready', () => events.lines.length > 0);
  const heardAt = bench.clock.now();
  bench.clock.advance(80_000);
  await waitUntil('it has ended', () => ends.length > 0);
  expect(ends).toEqual([{ endedBy: 'silence', at: expect.any(Number), lastHeardAt: heardAt }]);
});
