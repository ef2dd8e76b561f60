import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Members } from '../../../server/platform/nodes/members.ts';

const ids = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 7 });

describe('members', () => {
  test('all of them name the same owner of everything', () => {
    fc.assert(
      fc.property(ids, fc.string(), (nodes, name) => {
        const owners = nodes.map((own) => new Members(own, nodes).ownerOf(name));
        expect(new Set(owners).size).toBe(1);
        expect(nodes.filter((own) => new Members(own, nodes).isOwn(name))).toEqual([owners[0]]);
      }),
    );
  });

  test('when one goes, only what it owned changes hands', () => {
    fc.assert(
      fc.property(ids, fc.string(), (nodes, name) => {
        const [gone, own] = nodes as [string, string];
        const before = new Members(own, nodes).ownerOf(name);
        const left = nodes.filter((id) => id !== gone);
        if (before !== gone) expect(new Members(own, left).ownerOf(name)).toBe(before);
      }),
    );
  });

  test('spreads names evenly', () => {
    const members = new Members('a', ['a', 'b', 'c']);
    const counts = new Map<string, number>();
    for (let number = 0; number < 3000; number += 1) {
      const owner = members.ownerOf(`agent-${number}`);
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
    expect(counts.size).toBe(3);
  });

  test('tells when one has come or gone, and owns everything alone', () => {
    const members = new Members('b', ['a', 'b']);
    const seen: string[][] = [];
    members.changes.subscribe((now) => seen.push([...now]));
    members.set(['b', 'a']);
    members.set(['b']);
    members.set([]);
    members.set(['c', 'b']);
    expect(seen).toEqual([['b'], ['b', 'c']]);
    expect(new Members('b', []).isOwn('anything')).toBe(true);
  });
});

test('one that drains owns nothing, as long as there is another', () => {
  const members = new Members('b', ['a', 'b']);
  const seen: number[] = [];
  members.changes.subscribe((now) => seen.push(now.length));
  members.set(['a', 'b'], ['b']);
  for (const name of ['x', 'y', 'z', 'w']) expect(members.ownerOf(name)).toBe('a');
  expect(members.ids).toEqual(['a', 'b']);
  members.set(['a', 'b'], ['a', 'b']);
  expect(new Set(['u', 'v', 'w', 'x', 'y', 'z'].map((name) => members.ownerOf(name)))).toEqual(new Set(['a', 'b']));
  expect(seen).toEqual([2, 2]);
});
