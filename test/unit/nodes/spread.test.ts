import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { surplus } from '../../../server/platform/nodes/spread.ts';

describe('how many agents go to other control planes', () => {
  test.each([
    { name: 'alone', own: 5000, others: [], isGiving: false, goes: 0 },
    { name: 'all have about as many', own: 1100, others: [1000, 900], isGiving: false, goes: 0 },
    { name: 'a few agents', own: 12, others: [0, 0], isGiving: false, goes: 0 },
    { name: 'one has just started', own: 5000, others: [5000, 0], isGiving: false, goes: 1497 },
    { name: 'it has begun, and is not done', own: 3600, others: [3600, 2800], isGiving: true, goes: 97 },
    { name: 'the same before it begins', own: 3600, others: [3600, 2800], isGiving: false, goes: 0 },
  ])('$name: $goes', ({ own, others, isGiving, goes }) => {
    expect(surplus({ own, others }, isGiving)).toBe(goes);
  });

  test('all that begin stop, and whoever got agents does not give them back', () => {
    const counts = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 2, maxLength: 7 });
    fc.assert(
      fc.property(counts, (start) => {
        const agents = [...start];
        const giving = agents.map(() => false);
        const given = new Set<number>();
        for (let round = 0; ; round += 1) {
          expect(round).toBeLessThan(5000);
          const from = agents.findIndex((own, at) => {
            const others = agents.filter((_, other) => other !== at);
            giving[at] = surplus({ own, others }, giving[at]!) > 0;
            return giving[at];
          });
          if (from === -1) break;
          given.add(from);
          const to = agents.indexOf(Math.min(...agents));
          expect(given).not.toContain(to);
          agents[from]! -= 5;
          agents[to]! += 5;
        }
        const mean = agents.reduce((sum, count) => sum + count, 0) / agents.length;
        for (const own of agents) expect(own).toBeLessThanOrEqual(mean * 1.2 + 20);
      }),
      { numRuns: 20 },
    );
  });
});
