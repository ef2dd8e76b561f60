import { expect, test } from 'vitest';
import { FollowedRouters } from '../../../server/fleet/devices/followed-routers.ts';

test('routers are followed until the last agent that follows them is gone', () => {
  const followed = new FollowedRouters();
  followed.add('a', 'one');
  followed.add('a', 'one');
  followed.add('a', 'two');
  followed.add('b', 'one');
  expect(followed.all().sort()).toEqual(['one', 'two']);
  expect(followed.dropAgent('a')).toEqual(['one', 'two']);
  expect([followed.has('one'), followed.has('two')]).toEqual([true, false]);
  expect(followed.dropAgent('b')).toEqual(['one']);
  expect(followed.all()).toEqual([]);
  expect(followed.dropAgent('b')).toEqual([]);
});

test('a successor is followed in the place of its router, by the same agents', () => {
  const followed = new FollowedRouters();
  followed.add('a', 'old');
  followed.add('b', 'old');
  followed.forget('old', 'new');
  expect(followed.all()).toEqual(['new']);
  followed.dropAgent('a');
  expect(followed.has('new')).toBe(true);
  followed.forget('new');
  expect(followed.all()).toEqual([]);
  expect(followed.dropAgent('b')).toEqual([]);
});
