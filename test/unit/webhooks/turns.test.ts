import { expect, test } from 'vitest';
import { Turns } from '../../../server/webhooks/turns.ts';

const event = (origin: string, team: string) => ({ origin, team_id: team });

test('one receiver gets its share and no more', () => {
  const turns = new Turns({ total: 10, perOrigin: 2, perTeam: 10 });
  expect([1, 2, 3].map(() => turns.take(event('a', 'north')))).toEqual([true, true, false]);
  expect(turns.busy).toEqual({ origins: ['a'], teams: [] });
  expect(turns.take(event('b', 'north'))).toBe(true);
  turns.giveBack(event('a', 'north'));
  expect(turns.busy.origins).toEqual([]);
  expect(turns.take(event('a', 'north'))).toBe(true);
});

test('one team gets its share, however many receivers it has', () => {
  const turns = new Turns({ total: 10, perOrigin: 2, perTeam: 3 });
  expect(['a', 'b', 'c', 'd'].map((origin) => turns.take(event(origin, 'north')))).toEqual([true, true, true, false]);
  expect(turns.busy).toEqual({ origins: [], teams: ['north'] });
  expect(turns.take(event('a', 'south'))).toBe(true);
});

test('all together have a limit', () => {
  const turns = new Turns({ total: 2, perOrigin: 2, perTeam: 2 });
  expect(['a', 'b', 'c'].map((name) => turns.take(event(name, name)))).toEqual([true, true, false]);
  expect(turns.isFull).toBe(true);
  turns.giveBack(event('a', 'a'));
  expect(turns.isFull).toBe(false);
});
