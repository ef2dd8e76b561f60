import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PresenceTracker } from '../../../server/fleet/routers/presence.ts';
import { PresenceChanges } from '../../../server/outbound/events/presence-changes.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const OFFLINE_AFTER_MS = 75_000;
const SWEEP_MS = 1000;
const ROUTERS = ['r1', 'r2', 'r3'];

const router = fc.constantFrom(...ROUTERS);
const ms = fc.oneof(
  fc.integer({ min: 1, max: 3000 }),
  fc.integer({ min: OFFLINE_AFTER_MS - 1000, max: OFFLINE_AFTER_MS + 1000 }),
  fc.integer({ min: 1, max: 2 * OFFLINE_AFTER_MS }),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('heartbeat' as const), router, reachable: fc.boolean(), ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('inventory' as const), router, ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replaced' as const), router, successor: router, ms }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clockSet' as const), byMs: fc.integer({ min: -100_000, max: 100_000 }), ms }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Bench {
  readonly clock = new ManualClock();
  readonly published: string[] = [];
  readonly changes: PresenceChanges;
  readonly #presence: PresenceTracker;

  constructor() {
    const { clock } = this;
    this.#presence = new PresenceTracker({ offlineAfterMs: OFFLINE_AFTER_MS }, clock);
    this.changes = new PresenceChanges({
      clock,
      log: silentLog,
      answersUntil: (id) => this.#presence.answersUntil(id),
      onChange: ({ id }, online) => this.published.push(`${clock.monotonic()} ${id} ${online}`),
      sweepMs: SWEEP_MS,
    });
    this.#presence.load('r1', { reachable: true, uptimeSeconds: null, lastSeenAt: clock.now() - 60_000, lastSeenFrom: null });
    this.changes.start(ROUTERS.map(known), ({ id }) => (id === 'r1' ? true : id === 'r2' ? true : undefined));
  }

  lookAtAll(): void {
    for (const id of ROUTERS) this.changes.check(id);
  }

  take(one: Step): void {
    switch (one.kind) {
      case 'heartbeat': {
        const heartbeat = { reachable: one.reachable, uptimeSeconds: null, at: this.clock.now(), from: '198.51.100.7' };
        this.#presence.record(one.router, heartbeat);
        return this.changes.check(one.router);
      }
      case 'inventory':
        return this.changes.onInventory(known(one.router));
      case 'replaced':
        if (one.router === one.successor) return;
        this.changes.forget(one.router);
        this.changes.onInventory(known(one.successor));
        return this.#presence.forget(one.router, one.successor);
      case 'clockSet':
        return this.clock.step(one.byMs);
    }
  }
}

function known(id: string) {
  return { id, team_id: 'team', identity: id, agent_id: 'agent' };
}

test('a sweep that looks at due routers only publishes the same at the same moments as one that looks at all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const due = new Bench();
      const all = new Bench();
      const lookAtAll = (): void => {
        all.lookAtAll();
        all.clock.setTimeout(lookAtAll, SWEEP_MS);
      };
      all.clock.setTimeout(lookAtAll, SWEEP_MS);
      for (const one of steps) {
        for (const bench of [due, all]) {
          bench.take(one);
          bench.clock.advance(one.ms);
        }
        expect(due.published.toSorted()).toEqual(all.published.toSorted());
      }
      for (const { changes } of [due, all]) await changes.stop();
    }),
    { numRuns: 500 },
  );
});
