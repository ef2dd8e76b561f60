import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NextMoments } from '../../../server/platform/core/next-moments.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const at = fc.integer({ min: -20, max: 20 });

const step = fc.oneof(
  fc.record({ kind: fc.constant('atLatest' as const), key, at }),
  fc.record({ kind: fc.constant('delete' as const), key }),
  fc.record({ kind: fc.constant('takeReached' as const), at }),
  fc.record({ kind: fc.constant('takePassed' as const), at }),
);

/** The same by looking at all keys. */
class AllMoments {
  readonly moments = new Map<string, number>();

  atLatest(one: string, moment: number): void {
    this.moments.set(one, Math.min(moment, this.moments.get(one) ?? moment));
  }

  /** Keys that may be the next one: those with the earliest moment. */
  earliest(isDue: (moment: number) => boolean): string[] {
    const first = Math.min(...this.moments.values());
    return isDue(first) ? [...this.moments].filter(([, moment]) => moment === first).map(([one]) => one) : [];
  }
}

test('it gives the same keys in the same order as a look at all of them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new NextMoments();
      const all = new AllMoments();
      for (const one of steps) {
        if (one.kind === 'atLatest') {
          heap.atLatest(one.key, one.at);
          all.atLatest(one.key, one.at);
        } else if (one.kind === 'delete') {
          heap.delete(one.key);
          all.moments.delete(one.key);
        } else {
          const expected = all.earliest((moment) => (one.kind === 'takeReached' ? moment <= one.at : moment < one.at));
          const taken = heap[one.kind](one.at);
          if (expected.length === 0) expect(taken).toBeUndefined();
          else expect(expected).toContain(taken);
          if (taken !== undefined) all.moments.delete(taken);
        }
        expect(heap.size).toBe(all.moments.size);
      }
    }),
  );
});
