import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Heartbeat, RouterReason } from '../../../protocol/index.ts';
import { StatesService } from '../../../server/fleet/states/service.ts';
import { countStates } from '../../../server/fleet/states/counts.ts';
import type { StateChange, StateOfRouter } from '../../../server/fleet/states/types.ts';
import type { RouterRecord } from '../../../server/fleet/routers/types.ts';
import type { AgentConnection } from '../../../server/platform/core/agent-gateway.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const OFFLINE_AFTER_MS = 75_000;
const SWEEP_MS = 1000;
const TEAM = 'team';
const AGENTS = ['agent 1', 'agent 2'];
const NAMES = ['one', 'two'];
const ROUTERS = ['r1', 'r2', 'r3'];

const agent = fc.constantFrom(...AGENTS);
const name = fc.constantFrom(...NAMES);
const router = fc.constantFrom(...ROUTERS);
const reason = fc.constantFrom<RouterReason>('timeout', 'refused', 'starting');
const silentMs = fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined });

const ms = fc.oneof(
  fc.integer({ min: 1, max: 3000 }),
  fc.integer({ min: OFFLINE_AFTER_MS - 1000, max: OFFLINE_AFTER_MS + 1000 }),
  fc.integer({ min: 1, max: 2 * OFFLINE_AFTER_MS }),
);

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ready' as const), agent }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), agent, heardAgo: fc.integer({ min: 0, max: 30_000 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('heartbeat' as const), agent, name, reachable: fc.boolean(), reason, silentMs }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('inventory' as const), agent, name, router }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('entryLost' as const), agent, name }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('removed' as const), router, successor: fc.option(router, { nil: undefined }), agent, name }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clockSet' as const), ms: fc.integer({ min: -100_000, max: 100_000 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('time' as const), ms }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const NO_ROWS = { execute: () => Promise.resolve([]) };
/** A database without routers that takes everything. */
const EMPTY = {
  db: { selectFrom: () => new Proxy(NO_ROWS, { get: (rows, key, self) => (key === 'execute' ? rows.execute : () => self) }) },
  writes: { write: () => Promise.resolve() },
} as unknown as Storage;

/** The states of a fleet, and what they published. */
class Bench {
  readonly clock = new ManualClock();
  readonly published: unknown[] = [];
  readonly states: StatesService;
  /** Routers by agent and name, as inventories name them. */
  readonly #ids = new Map<string, string>();

  constructor() {
    const { clock } = this;
    this.states = new StatesService({
      storage: EMPTY,
      clock,
      log: silentLog,
      routers: { routerIdOf: (agentId, entry) => this.#ids.get(`${agentId} ${entry}`), lastHeartbeatOf: () => undefined },
      runs: { former: undefined, currentId: undefined },
      offlineAfterMs: OFFLINE_AFTER_MS,
      keepMs: 1,
    });
    this.states.changes.subscribe((change) => this.published.push([clock.monotonic(), this.#words(change)]));
  }

  /** As a full sweep: reading the state of one router computes it. */
  readEach(): StateOfRouter[] {
    return ROUTERS.map((id) => this.states.find(id)).filter((found) => found !== undefined);
  }

  take(one: Step): void {
    const { states, clock } = this;
    switch (one.kind) {
      case 'ready':
        return states.onReady(connectionOf(one.agent));
      case 'gone':
        return states.onGone(connectionOf(one.agent), { endedBy: 'silence', at: clock.now(), lastHeardAt: clock.now() - one.heardAgo });
      case 'heartbeat':
        return states.onHeartbeat(connectionOf(one.agent), heartbeatOf(one));
      case 'inventory':
        for (const [key, id] of this.#ids) if (id === one.router) this.#ids.delete(key);
        this.#ids.set(`${one.agent} ${one.name}`, one.router);
        return states.onInventory(recordOf(one.router, one.agent, one.name, clock.now()));
      case 'entryLost':
        this.#ids.delete(`${one.agent} ${one.name}`);
        return states.onEntryLost(connectionOf(one.agent), one.name);
      case 'removed':
        if (one.successor === one.router) return;
        for (const [key, id] of this.#ids) if (id === one.router) this.#ids.delete(key);
        return states.forget(
          one.router,
          one.successor === undefined ? undefined : recordOf(one.successor, one.agent, one.name, clock.now()),
        );
      case 'clockSet':
        clock.step(one.ms);
        return states.onClockStep(one.ms);
      case 'time':
        return;
    }
  }

  #words({ routerId, before, state, reason: why, since, agentId }: StateChange): string {
    return [routerId, agentId, before, state, why, since].join(' ');
  }
}

function connectionOf(agentId: string): AgentConnection {
  return { agentId, teamId: TEAM, epoch: 1, address: '198.51.100.7', reset: false };
}

function heartbeatOf({ name: entry, reachable, reason: code, silentMs: silent }: Extract<Step, { kind: 'heartbeat' }>): Heartbeat {
  const report = { name: entry, reachable, uptime_seconds: null, reason: null };
  const why = reachable ? {} : { reason_code: code, ...(silent === undefined ? {} : { silent_ms: silent }) };
  return { type: 'heartbeat', routers: [{ ...report, ...why }] };
}

function recordOf(id: string, agentId: string, entry: string, now: number): RouterRecord {
  return { id, team_id: TEAM, identity: id, agent_id: agentId, agent_router: entry, created_at: now } as RouterRecord;
}

test('a sweep that looks at due routers only publishes the same at the same moments as one that looks at all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const due = new Bench();
      const all = new Bench();
      for (const { states } of [due, all]) await states.start();
      const lookAtAll = (): void => {
        all.readEach();
        all.clock.setTimeout(lookAtAll, SWEEP_MS);
      };
      all.clock.setTimeout(lookAtAll, SWEEP_MS);
      for (const one of steps) {
        for (const bench of [due, all]) {
          bench.take(one);
          bench.clock.advance(one.kind === 'time' ? one.ms : 1);
        }
        expect(due.published.map(String).toSorted()).toEqual(all.published.map(String).toSorted());
      }
      // And what is read is the same: the list, the counts, and each router by itself.
      const each = all.readEach();
      expect(due.states.countsOf(TEAM)).toEqual(countStates(each));
      expect(new Set(due.states.ofTeam(TEAM))).toEqual(new Set(each));
      expect(due.readEach()).toEqual(each);
      for (const { states } of [due, all]) await states.stop();
    }),
    { numRuns: 1000 },
  );
});
