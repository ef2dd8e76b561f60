import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { DiffThreads } from '../../server/work/backups/diff/diff-threads.ts';
import type { DiffTask } from '../../server/work/backups/diff/diff-threads.ts';
import { diffLines } from '../../server/work/backups/diff/lines.ts';
import { Counters } from '../../server/platform/core/counters.ts';
import { exportOf } from '../harness/large-exports.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const task = (before: string, after: string): DiffTask => ({
  before: { name: 'a', content: text(before) },
  after: { name: 'b', content: text(after) },
});

describe('the difference of two exports', () => {
  test('of 7 MB with 450 changes is exact and blocks no other request', async () => {
    const real = task(exportOf({ megabytes: 7 }), exportOf({ megabytes: 7, changes: 450 }));
    // CPU time of this thread, which does not grow when the machine is busy. The comparison itself takes more than the limit.
    const before = process.threadCpuUsage();
    const { diff, coarse, truncated } = await new DiffThreads(new Counters()).compare('team', async () => real);
    const { user, system } = process.threadCpuUsage(before);
    expect([coarse, truncated]).toEqual([false, false]);
    expect(diff.split('\n').filter((line) => /^\+[^+]/.test(line))).toHaveLength(450);
    expect((user + system) / 1000).toBeLessThan(100);
  });

  test('of exports that share every other line is exact and ends in bounded time', () => {
    const before = Array.from({ length: 60_000 }, (_, i) => (i % 2 === 0 ? `same ${i}` : `old ${i}`));
    const after = Array.from({ length: 60_000 }, (_, i) => (i % 2 === 0 ? `same ${i}` : `new ${i}`));
    const { edits, isCoarse } = diffLines(before, after);
    expect(edits.filter(({ kind }) => kind !== 'added').map(({ line }) => line)).toEqual(before);
    expect(edits.filter(({ kind }) => kind !== 'removed').map(({ line }) => line)).toEqual(after);
    // Lines that both have once are anchors, so even this one is exact.
    expect([isCoarse, edits.filter(({ kind }) => kind === 'same').length]).toEqual([false, 30_000]);
  });

  test('ends in the worst case, few distinct lines in another order', () => {
    const mixed = (seed: number): string[] => Array.from({ length: 100_000 }, (_, i) => `line ${(i * seed + (i >> 3)) % 7}`);
    const { edits, isCoarse } = diffLines(mixed(3), mixed(5));
    expect(isCoarse).toBe(true);
    expect(edits.filter(({ kind }) => kind !== 'added').map(({ line }) => line)).toEqual(mixed(3));
    expect(edits.filter(({ kind }) => kind !== 'removed').map(({ line }) => line)).toEqual(mixed(5));
  });

  test('is computed team by team in rotation, from bounded queues, and is skipped when its caller has gone', async () => {
    const counters = new Counters();
    const threads = new DiffThreads(counters);
    const small = task('/ip address\nadd a\n', '/ip address\nadd b\n');
    let read = 0;
    const ask = (team: string, signal?: AbortSignal) =>
      threads.compare(
        team,
        async () => {
          read += 1;
          return small;
        },
        signal,
      );
    const greedy = Array.from({ length: 20 }, () => ask('greedy'));
    await expect(ask('greedy')).rejects.toMatchObject({ code: 'rate_limited' });
    expect(counters.get('diff_queue')).toBe(1);
    await ask('neighbour');
    // The neighbour did not wait for the line of the other team.
    expect(read).toBeLessThan(10);
    const abort = new AbortController();
    abort.abort();
    await Promise.all(greedy);
    const before = read;
    await expect(ask('greedy', abort.signal)).rejects.toMatchObject({ code: 'unavailable' });
    expect(read).toBe(before);
  });

  test('stops when its caller disconnects', async () => {
    const abort = new AbortController();
    const asked = new DiffThreads(new Counters()).compare(
      'team',
      async () => task(exportOf({ megabytes: 7 }), exportOf({ megabytes: 7, changes: 900 })),
      abort.signal,
    );
    setTimeout(() => abort.abort(), 20);
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
  });
});
