import { expect, test } from 'vitest';
import { chooseMatches } from '../../../server/fleet/search/choose.ts';

test.each<[string[][], number, string[]]>([
  [[], 3, []],
  [[['a', 'b', 'c']], 2, ['a', 'b']],
  [[['a'], ['x', 'y', 'z', 'w']], 3, ['a', 'x', 'y']],
  [[['a', 'b', 'c'], [], ['x', 'y', 'z']], 3, ['a', 'b', 'x']],
  [
    [
      ['a', 'b'],
      ['x', 'y'],
    ],
    9,
    ['a', 'b', 'x', 'y'],
  ],
  [[['a'], ['x']], 0, []],
])('of %j there is room for %i: %j', (ofKinds, room, chosen) => {
  expect(chooseMatches(ofKinds, room)).toEqual(chosen);
});
