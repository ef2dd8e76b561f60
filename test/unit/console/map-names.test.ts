import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namesBeside } from '../../../console/src/pages/fleet/map/names.ts';

const mark = (name: string, x: number, y: number) => ({ name, x, y });
type Mark = ReturnType<typeof mark>;
const names = (marks: readonly Mark[], width = 800) =>
  namesBeside(marks, { nameOf: ({ name }) => name, width }).map(({ mark: { name }, anchor }) => `${name} ${anchor}`);

describe('names on the map', () => {
  it('stand at the right of their marks, and at the left where the picture ends', () => {
    expect(names([mark('Riga', 100, 100), mark('Vilnius', 780, 300)])).toEqual(['Riga start', 'Vilnius end']);
  });

  it('give way to marks', () => {
    expect(names([mark('Riga', 100, 100), mark('Jelgava', 125, 102)])).toEqual(['Riga end', 'Jelgava start']);
  });

  it('of marks at one place are those of the first one, and of another at its other side', () => {
    const here = ['one', 'two', 'three'].map((name) => mark(name, 400, 200));
    expect(names(here)).toEqual(['one start', 'two end']);
  });

  it('that have no room at all are left to the list', () => {
    expect(names([mark('a name that is longer than the picture', 20, 20)], 100)).toEqual([]);
  });

  it('cover neither marks nor each other, and never leave the picture', () => {
    const fleet = fc.array(fc.record({ name: fc.string({ minLength: 1, maxLength: 20 }), x: fc.nat(800), y: fc.nat(560) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(fleet, (marks) => {
        const boxes = namesBeside(marks, { nameOf: ({ name }) => name, width: 800 }).map(({ mark: { name }, x, y, anchor }) => {
          const long = name.length * 6;
          return anchor === 'start' ? { from: x, to: x + long, y } : { from: x - long, to: x, y };
        });
        for (const [index, { from, to, y }] of boxes.entries()) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(800);
          expect(marks.filter((mark) => mark.x > from && mark.x < to && Math.abs(mark.y - y) < 6)).toEqual([]);
          expect(boxes.slice(index + 1).filter((other) => other.from < to && from < other.to && Math.abs(other.y - y) < 12)).toEqual([]);
        }
      }),
    );
  });
});
