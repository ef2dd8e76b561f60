import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultChange, FaultType } from '../../../server/fleet/faults/types.ts';
import { RouterWatch } from '../../../server/fleet/faults/watch.ts';
import { NOT_REPORTED } from '../../../server/fleet/states/types.ts';
import type { Verdict } from '../../../server/fleet/states/types.ts';
import { NextMoments } from '../../../server/platform/core/next-moments.ts';

const RULES = { offlineAfterMs: 75_000, heartbeatMs: 30_000 };
const SWEEP_MS = 5000;

const ms = fc.integer({ min: 0, max: 120_000 });
const step = fc.record({
  /** How long the state before lasts; then this one begins, and is found after `late`. */
  ms,
  late: fc.integer({ min: 0, max: 20_000 }),
  state: fc.constantFrom<Verdict['state']>('answering', 'not_answering', 'agent_away', 'never_seen'),
  reason: fc.constantFrom(NOT_REPORTED, 'timeout', null),
});

/** One router: what its watch says at changes of state, and at sweeps. */
class Bench {
  readonly changes: [number, FaultChange][] = [];
  readonly #watch: RouterWatch;
  readonly #due = new NextMoments();
  #verdict: Verdict = { state: 'agent_away', since: -10_000, reason: 'unknown' };

  constructor(openFaults: readonly FaultType[], watchedSince: number) {
    this.#watch = new RouterWatch(RULES, { uptimeSeconds: null, lastSeenAt: null, openFaults, watchedSince });
    this.#due.atLatest('it', Number.NEGATIVE_INFINITY);
  }

  changed(verdict: Verdict, now: number): void {
    this.#verdict = verdict;
    this.#look(now);
  }

  sweep(now: number, looks: 'always' | 'when due'): void {
    if (this.#due.takeReached(now) !== undefined || looks === 'always') this.#look(now);
  }

  #look(now: number): void {
    for (const change of this.#watch.onState(this.#verdict, now)) this.changes.push([now, change]);
    const dueAt = this.#watch.dueAt(this.#verdict);
    if (dueAt !== undefined) this.#due.atLatest('it', dueAt);
  }
}

test('a sweep that looks at due routers only opens and resolves the same at the same moments as one that looks at all', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 20 }),
      fc.subarray<FaultType>(['agent_offline', 'router_offline']),
      fc.constantFrom(0, Number.NEGATIVE_INFINITY),
      (steps, open, watchedSince) => {
        const all = new Bench(open, watchedSince);
        const due = new Bench(open, watchedSince);
        let now = 0;
        for (const { ms: lasts, late, state, reason } of [...steps, { ms: 300_000, late: 0, state: 'answering' as const, reason: null }]) {
          const until = now + lasts;
          for (let at = Math.ceil(now / SWEEP_MS) * SWEEP_MS; at < until; at += SWEEP_MS) {
            all.sweep(at, 'always');
            due.sweep(at, 'when due');
          }
          now = until;
          for (const bench of [all, due]) bench.changed({ state, since: now - late, reason }, now);
        }
        expect(due.changes).toEqual(all.changes);
      },
    ),
    { numRuns: 1000 },
  );
});
