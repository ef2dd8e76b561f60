import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdSequence } from '../../../server/core/id-sequence.ts';
import { idFloor, isUuid, newId } from '../../../server/core/ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
const NOW = 1_700_000_000_000;

describe('ids', () => {
  it('rise with every call, whatever the clock does within a second', () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -50, max: 200 })), { minLength: 2, maxLength: 300 });
    fc.assert(
      fc.property(steps, (waits) => {
        const ids = new IdSequence();
        let now = NOW;
        let highest = 0;
        const made = waits.map((wait) => {
          now = Math.max(now + wait, highest - 1000);
          highest = Math.max(highest, now);
          return { id: ids.next(now), highest };
        });
        for (const [index, { id, highest }] of made.entries()) {
          expect(id).toMatch(UUID_V7);
          expect(isUuid(id)).toBe(true);
          // They tell the time: at most one millisecond is ever borrowed from the next.
          expect(timeOf(id) - highest).toBeLessThanOrEqual(1);
          expect(timeOf(id)).toBeGreaterThanOrEqual(highest);
          if (index > 0) expect(id > made[index - 1]!.id).toBe(true);
        }
      }),
    );
  });

  it('of one millisecond are in the order in which they were made, and cannot be told from one another', () => {
    const made = Array.from({ length: 20_000 }, () => newId(NOW));
    expect(made).toEqual([...new Set(made)].sort());
    const steps = new Set(made.slice(1).map((id, index) => BigInt(`0x${id.slice(24)}`) - BigInt(`0x${made[index]!.slice(24)}`)));
    expect(steps.size).toBeGreaterThan(19_900);
  });

  it('tell the new time when the clock is set back for good', () => {
    const ids = new IdSequence();
    expect(timeOf(ids.next(NOW))).toBe(NOW);
    expect(timeOf(ids.next(NOW - 1000))).toBe(NOW);
    expect(timeOf(ids.next(NOW - 3_600_000))).toBe(NOW - 3_600_000);
  });

  it('of one moment lie between its floor and the next', () => {
    const id = newId(NOW + 5000);
    expect(idFloor(NOW + 5000) < id).toBe(true);
    expect(id < idFloor(NOW + 5001)).toBe(true);
  });
});
