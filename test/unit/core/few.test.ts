import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FewMap, FewSet } from '../../../server/platform/core/few.ts';

const key = fc.integer({ min: 0, max: 15 });
const step = fc.oneof(fc.record({ set: key, value: fc.integer() }), fc.record({ drop: key }));

test('property: a FewMap is a Map, with few entries and with many', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const few = new FewMap<number, number>();
      const map = new Map<number, number>();
      for (const one of steps) {
        if ('set' in one) {
          few.set(one.set, one.value);
          map.set(one.set, one.value);
        } else {
          expect(few.delete(one.drop)).toBe(map.delete(one.drop));
        }
        expect([...few]).toEqual([...map]);
        expect(few.size).toBe(map.size);
      }
      for (let name = 0; name < 16; name += 1) {
        expect(few.get(name)).toBe(map.get(name));
        expect(few.has(name)).toBe(map.has(name));
      }
      expect([...few.keys()]).toEqual([...map.keys()]);
      expect([...few.values()]).toEqual([...map.values()]);
    }),
  );
});

test('property: a FewSet is a Set', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ value: key, add: fc.boolean() }), { maxLength: 60 }), (steps) => {
      const few = new FewSet<number>();
      const set = new Set<number>();
      for (const { value, add } of steps) {
        if (add) {
          few.add(value);
          set.add(value);
        } else {
          expect(few.delete(value)).toBe(set.delete(value));
        }
      }
      expect([...few]).toEqual([...set]);
      expect(few.size).toBe(set.size);
    }),
  );
});

test('entries may be deleted while they are read', () => {
  const many = new FewSet(Array.from({ length: 5 }, (_, index) => index));
  for (const value of many) many.delete(value);
  expect(many.size).toBe(0);
});
