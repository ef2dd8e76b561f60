import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdSequence } from '../../../server/platform/core/id-sequence.ts';
import { derivedId, idFloor, isUuid, newId } from '../../../server/platform/core/ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
const NOW = 1_700_000_000_000;

describe('ids', () => {
  it('rise with every call, whatever the clock does within a second', () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -50, max: 200 })), {
      minLength: 2,
      maxLength: 300,
    });
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

  it('that derive from a time and a name are the same everywhere, and others for another time or name', () => {
    const id = derivedId(NOW, 'schedule router');
    expect(id).toMatch(UUID_V7);
    expect(timeOf(id)).toBe(NOW);
    expect(derivedId(NOW, 'schedule router')).toBe(id);
    expect(new Set([id, derivedId(NOW + 1, 'schedule router'), derivedId(NOW, 'schedule other')]).size).toBe(3);
    fc.assert(fc.property(fc.nat(), fc.string(), (at, name) => UUID_V7.test(derivedId(at, name))));
  });

  it('of one millisecond sort in the order of their creation, in random steps', () => {
    const made = Array.from({ length: 20_000 }, () => newId(NOW));
    expect(made).toEqual([...new Set(made)].sort());
    const steps = new Set(made.slice(1).map((id, index) => BigInt(`0x${id.slice(24)}`) - BigInt(`0x${made[index]!.slice(24)}`)));
    expect(steps.size).toBeGreaterThan(19_900);
  });

  it('use the new time when the clock is set back for good', () => {
    const ids = new IdSequence();
    expect(timeOf(ids.next(NOW))).toBe(NOW);
    expect(timeOf(ids.next(NOW - 1000))).toBe(NOW);
    expect(timeOf(ids.next(NOW - 3_600_000))).toBe(NOW - 3_600_000);
  });

  /** What the first 48 bits can say, less a second for what the counter lends. */
  const LATEST = 2 ** 48 - 1 - 1000;

  it.each([
    ['before 1970', -1, 0],
    ['long before 1970', -62_135_596_800_000, 0],
    ['before all time', Number.NEGATIVE_INFINITY, 0],
    ['at the beginning', 0, 0],
    ['between two milliseconds', NOW + 0.75, NOW],
    ['between 1970 and the moment before', -0.25, 0],
    ['at the last moment', LATEST, LATEST],
    ['behind the last moment', 2 ** 48 - 1, LATEST],
    ['where 48 bits end', 2 ** 48, LATEST],
    ['after the last date of JavaScript', 8.64e15 + 1, LATEST],
    ['after all time', Number.POSITIVE_INFINITY, LATEST],
    ['nowhere', Number.NaN, 0],
  ])('are valid and rise when the clock stands %s', (_where, now, told) => {
    const ids = new IdSequence();
    const made = Array.from({ length: 100 }, () => ids.next(now));
    for (const id of made) expect(id).toMatch(UUID_V7);
    expect(made.map(timeOf)).toEqual(made.map(() => told));
    expect(made).toEqual([...new Set(made)].sort());
    expect(idFloor(now)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-$/);
    expect(idFloor(now) < made[0]!).toBe(true);
  });

  it('are valid with any clock, and have the right time once the clock is right', () => {
    const anyTime = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-1, 2 ** 48 - 1, 2 ** 48, Number.NaN));
    fc.assert(
      fc.property(fc.array(anyTime, { maxLength: 50 }), (times) => {
        const ids = new IdSequence();
        for (const time of times) expect(ids.next(time)).toMatch(UUID_V7);
        expect(Math.abs(timeOf(ids.next(NOW)) - NOW)).toBeLessThanOrEqual(1000);
      }),
    );
  });

  it('of one millisecond lie between its floor and the next', () => {
    const id = newId(NOW + 5000);
    expect(idFloor(NOW + 5000) < id).toBe(true);
    expect(id < idFloor(NOW + 5001)).toBe(true);
  });
});
