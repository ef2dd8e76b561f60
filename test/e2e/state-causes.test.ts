import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import type { Clock } from '../../server/platform/core/clock.ts';
import { databaseKinds } from '../harness/databases.ts';
import { Stand } from '../harness/stand.ts';
import type { ShownState } from '../harness/stand.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * Every cause for which a router may be lost, each with a router and an agent of its own, in the night in which the clocks of Berlin go
 * back: 03:00 became 02:00 at 01:00 UTC.
 */
const CLOCKS_GO_BACK = Date.parse('2026-10-25T01:00:00Z');
/** The routers answer first before, and are lost about when the clocks change. */
const BEFORE_MS = 15_000;
/** A moment is right to so much. */
const RIGHT_TO_MS = 2000;
/** So soon a loss is shown that the control plane notices at once. */
const SHOWN_WITHIN_MS = 5000;
/** As the world sets it: a silent line was heard at most so long before it was cut. */
const HEARTBEAT_MS = 1000;
/** A silent line is noticed after two pings without an answer, 20 to 25 s each. */
const SILENCE_MS = 75_000;
/** The agent notices a router without power after two pings without an answer, at most 20 s apart, with 10 s for each answer. */
const POWER_OFF_MS = 75_000;
/** How often it asks: less than the usual heartbeat of 30 s. */
const PROBE_MS = 20_000;
/** So that there is something to see before the loss. */
const ANSWERED_FOR_MS = 3000;
/** Patience on a machine whose cores are shared with other programs. */
const SLOW_MS = 150_000;

const ahead = CLOCKS_GO_BACK - BEFORE_MS - Date.now();
const nightClock: Clock = { ...systemClock, now: () => Date.now() + ahead };

interface Cause {
  name: string;
  lost: Pick<ShownState, 'state' | 'state_reason'>;
  lose: (stand: Stand, world: World) => Promise<void> | void;
  /** It is noticed late: within so much. */
  noticedWithinMs?: number;
  /** How often something is heard of it: a silent loss was heard of at most so long before. */
  heardEveryMs?: number;
  asProcess?: boolean;
}

const away = (reason: string) => ({ state: 'agent_away', state_reason: reason });
const silent = (reason: string) => ({ state: 'not_answering', state_reason: reason });

const CAUSES: Cause[] = [
  { name: 'agent killed', lost: away('network'), lose: (stand) => stand.program.kill(), asProcess: true },
  { name: 'agent stopped', lost: away('left'), lose: (stand) => stand.stopAgent() },
  { name: 'network cut without a word', lost: away('silence'), lose: (stand) => stand.tunnelLine.stall(), noticedWithinMs: SILENCE_MS },
  { name: 'agent replaced', lost: away('replaced'), lose: (stand) => stand.enrol(stand.agentId) },
  {
    name: 'agent revoked',
    lost: away('revoked'),
    lose: async (stand, world) => {
      expect((await world.caller.call('DELETE', `/api/agents/${stand.agentId}`)).status).toBe(204);
    },
  },
  {
    name: 'router powered off',
    lost: silent('timeout'),
    lose: (stand) => {
      // Nothing that is sent to it gets an answer, not even that nobody is there.
      stand.routerLine.stall();
      void stand.simulator.router.powerOff();
    },
    noticedWithinMs: POWER_OFF_MS,
    heardEveryMs: PROBE_MS,
  },
  { name: 'login refused', lost: silent('login_refused'), lose: (stand) => stand.setRouterPassword('another') },
  { name: 'API closed', lost: silent('refused'), lose: (stand) => stand.routerLine.close() },
];

interface Shares {
  from: string;
  to: string;
  answering: number;
  not_answering: number;
  agent_away: number;
  unknown: number;
  percent_of_known: number | null;
}

/** What happened to one router, as the test knows it. */
interface Loss {
  stand: Stand;
  answeredAt: number;
  lostAt: number;
  shown: ShownState;
  shownAt: number;
}

describe.each(databaseKinds())('how a router is lost, on $name', (kind) => {
  let world: World;
  let remove: () => Promise<void>;
  /** A router that is never lost but with the control plane. */
  let steady: Stand;
  const stands: Stand[] = [];
  const losses = new Map<string, Promise<Loss>>();

  const start = async (name: string, asProcess = false): Promise<Stand> => {
    const stand = await Stand.start(world, name.replaceAll(' ', '-'), { asProcess });
    stands.push(stand);
    return stand;
  };

  beforeAll(async () => {
    const database = await kind.create();
    remove = database.remove;
    world = await World.start({
      databaseUrl: database.url,
      routers: [],
      overrides: { clock: nightClock },
      // What is told to others is right to a few seconds; router-states.test.ts is about that.
      spread: false,
      // As by default: a silent line ends before its routers are given up one by one.
      server: { SIGNALBOX_OFFLINE_AFTER_SECONDS: '75' },
    });
    steady = await start('steady');
    for (const { name, asProcess } of CAUSES) await start(name, asProcess);
    const youngest = Date.parse((await stands.at(-1)!.read()).state_since);
    await waitUntil('all have answered for a while', () => nightClock.now() - youngest > ANSWERED_FOR_MS);
    // All at once, because some are noticed late.
    for (const [index, { name, lost, lose, noticedWithinMs }] of CAUSES.entries()) {
      const stand = stands[index + 1]!;
      const answeredAt = Date.parse((await stand.becomes('answering', null)).state_since);
      const loss = (async () => {
        const lostAt = nightClock.now();
        await lose(stand, world);
        const shown = await stand.becomes(lost.state, lost.state_reason, noticedWithinMs ?? SLOW_MS);
        return { stand, answeredAt, lostAt, shown, shownAt: nightClock.now() };
      })();
      loss.catch(() => undefined);
      losses.set(name, loss);
    }
  });
  afterAll(async () => {
    await Promise.all(stands.map((stand) => stand.close()));
    await world.close();
    await remove();
  });

  const read = async (stand: Stand, query: string) => {
    const { body } = await world.caller.call<{ data: { total: Shares; buckets: Shares[] } }>(
      'GET',
      `/api/routers/${stand.routerId}/availability?time_zone=Europe/Berlin&${query}`,
    );
    return body.data;
  };

  test.each(CAUSES)(
    '$name: the right state, reason and moment',
    async ({ name, heardEveryMs = HEARTBEAT_MS, noticedWithinMs }) => {
      const { lostAt, shown, shownAt } = await losses.get(name)!;
      const since = Date.parse(shown.state_since);
      // When the control plane knew: for a silent loss long after the loss itself.
      const knownAt = noticedWithinMs === undefined ? since : shownAt;
      expect(shownAt - knownAt).toBeLessThan(SHOWN_WITHIN_MS);
      const early = noticedWithinMs === undefined ? RIGHT_TO_MS : RIGHT_TO_MS + heardEveryMs;
      expect(since - lostAt, `${shown.state_since} instead of ${new Date(lostAt).toISOString()}`).toBeGreaterThan(-early);
      expect(since - lostAt, `${shown.state_since} instead of ${new Date(lostAt).toISOString()}`).toBeLessThan(RIGHT_TO_MS);
    },
    SLOW_MS,
  );

  test('list and overview agree with it', async () => {
    await Promise.all(losses.values());
    const list = (await world.caller.call<{ data: ShownState[] }>('GET', '/api/routers')).body.data;
    for (const { stand, shown } of await Promise.all(losses.values())) {
      const { state, state_since: since, state_reason: reason } = list.find(({ id }) => id === stand.routerId)!;
      expect({ state, since, reason }, stand.name).toEqual({ state: shown.state, since: shown.state_since, reason: shown.state_reason });
    }
    const { routers } = (await world.caller.call<{ data: { routers: Record<string, number> } }>('GET', '/api/overview')).body.data;
    expect(routers).toEqual({ answering: 1, not_answering: 3, agent_away: 5, never_seen: 0 });
  });

  test('the bars of the night, of 25 hours, are right', async () => {
    for (const { stand, answeredAt, shown } of await Promise.all(losses.values())) {
      const { buckets } = await read(stand, 'bucket=day&from=2026-10-23T22:00:00Z');
      expect(buckets.map(({ from }) => from)).toEqual(['2026-10-23T22:00:00.000Z', '2026-10-24T22:00:00.000Z']);
      const [before, night] = buckets;
      expect(before).toMatchObject({ answering: 0, unknown: 24 * 3600, percent_of_known: null });
      const lostAt = Date.parse(shown.state_since);
      expect(night!.answering, stand.name).toBeCloseTo((lostAt - answeredAt) / 1000, 2);
      const lost = (Date.parse(night!.to) - lostAt) / 1000;
      expect(night![shown.state as 'agent_away'], stand.name).toBeCloseTo(lost, 2);
      const known = night!.answering + lost;
      expect(night!.percent_of_known).toBeCloseTo((night!.answering / known) * 100, 1);
      expect(night!.unknown + known).toBeCloseTo((Date.parse(night!.to) - Date.parse(night!.from)) / 1000, 2);
    }
  });

  test('hours of the night follow each other across the change, and add up to it', async () => {
    const query = 'from=2026-10-24T23:00:00Z&to=2026-10-25T04:00:00Z';
    const [hours, days] = [await read(steady, `bucket=hour&${query}`), await read(steady, `bucket=day&${query}`)];
    // 02:00 comes twice.
    expect(hours.buckets.slice(0, 3).map(({ from }) => from)).toEqual([
      '2026-10-24T23:00:00.000Z',
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
    ]);
    expect(hours.total.answering).toBeGreaterThan(0);
    expect(hours.buckets.reduce((total, { answering }) => total + answering, 0)).toBeCloseTo(days.buckets[0]!.answering, 0);
  });

  test('control plane restarted: agent_away since its stop, what was lost stays so, and the gap is unknown', async () => {
    const before = await Promise.all((await Promise.all(losses.values())).map(({ stand }) => stand.read()));
    const stoppedAt = nightClock.now();
    // Its agent cannot come back before the test has looked.
    steady.tunnelLine.stall();
    await world.restartServer();
    const startedAt = nightClock.now();
    const shown = await steady.becomes('agent_away', 'server_stopped');
    expect(Math.abs(Date.parse(shown.state_since) - stoppedAt)).toBeLessThan(RIGHT_TO_MS + SHOWN_WITHIN_MS);
    expect(Date.parse(shown.state_since)).toBeLessThanOrEqual(startedAt);
    for (const lost of before.filter(({ state }) => state === 'agent_away'))
      expect((await world.caller.call<{ data: ShownState }>('GET', `/api/routers/${lost.id}`)).body.data).toMatchObject({
        state: 'agent_away',
        state_since: lost.state_since,
        state_reason: lost.state_reason,
      });
    steady.tunnelLine.flow();
    steady.tunnelLine.cut();
    const back = await steady.becomes('answering', null);
    const { total } = await waitUntil('the bar shows it', async () => {
      const shares = await read(steady, `bucket=hour&from=${shown.state_since}&to=${back.state_since}`);
      return shares.total.agent_away + shares.total.unknown > 0 ? shares : undefined;
    });
    expect(total.answering + total.not_answering).toBe(0);
    // What lies between the two runs is nobody's.
    expect(total.unknown).toBeGreaterThan(0);
    expect(total.unknown).toBeLessThan((startedAt - stoppedAt) / 1000 + 1);
  });
});
