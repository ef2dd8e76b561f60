import { expect, test } from 'vitest';
import { Peers } from '../../../server/platform/nodes/peers.ts';
import type { NodeRecord } from '../../../server/platform/nodes/store.ts';

const node = (id: string, beat: number): NodeRecord => ({
  id,
  beat,
  name: id,
  version: '1',
  process: null,
  public_url: 'https://node.example',
  started_at: 0,
  state: 'up',
  tunnels: 0,
  clients: 0,
  on_bus: 1,
  program_schema: null,
  keys: null,
  certificate_ends_at: null,
});

/** Looks every 2 s. @returns the ids taken for dead, by the second */
function watch(beatsOf: (second: number) => NodeRecord[], looksAt: (second: number) => boolean = () => true): Record<number, string[]> {
  const peers = new Peers('own');
  const dead: Record<number, string[]> = {};
  for (let second = 0; second <= 40; second += 2) {
    if (!looksAt(second)) continue;
    const ids = peers.look(beatsOf(second), second * 1000).dead.map(({ id }) => id);
    if (ids.length > 0) dead[second] = ids;
  }
  return dead;
}

test('who beats lives', () => {
  expect(watch((second) => [node('own', 0), node('other', second)])).toEqual({});
});

test('the own beat is not judged', () => {
  expect(watch(() => [node('own', 7)])).toEqual({});
});

test('who has not beaten for 10 s is dead', () => {
  const dead = watch((second) => [node('steady', second), node('killed', Math.min(second, 12))]);
  expect(Object.keys(dead)[0]).toBe('22');
  expect(dead[22]).toEqual(['killed']);
});

test('nobody dies while the own beats are not stored', () => {
  const dead = watch(
    () => [node('other', 1)],
    (second) => second <= 8 || second >= 30,
  );
  expect(Object.keys(dead)[0]).toBe('40');
});

test('a number that was seen before counts as a beat', () => {
  expect(watch((second) => [node('restored', second % 4)])).toEqual({});
});

test('says who has left', () => {
  const peers = new Peers('own');
  expect(peers.look([node('own', 0), node('other', 1)], 0).left).toEqual([]);
  expect(peers.look([node('own', 1)], 2000).left).toEqual(['other']);
  expect(peers.look([node('own', 2)], 4000).left).toEqual([]);
});
