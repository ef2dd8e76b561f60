import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { hasNats } from '../harness/nats-server.ts';

const MEMBERS = 3;
/** What a new member does once is over by then. */
const SETTLES_MS = 5000;
/** Over it each of the polls of 5 s runs six times. */
const WINDOW_MS = 30_000;
/** Of one member, begin and commit of a transaction included. */
const MOST_PER_SECOND = 3;

describe.skipIf(!postgres || !hasNats())('members without agents and callers', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('ask the database less than three times a second each', async () => {
    const counted = countStatements();
    const { nodes } = await startMembers(closers, { members: MEMBERS, routers: [] });
    await pause(SETTLES_MS);
    counted.clear();
    // A load balancer asks each of them once a second (docs/cluster.md).
    for (let ms = 0; ms < WINDOW_MS; ms += 1000) {
      await pause(1000);
      const answers = await Promise.all(nodes.map((node) => fetch(`${node.url}/readyz`)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    const perSecond = (count: number): number => count / (WINDOW_MS / 1000) / MEMBERS;
    const most = [...counted]
      .toSorted(([, a], [, b]) => b - a)
      .map(([text, count]) => `${perSecond(count).toFixed(3)} ${text.slice(0, 160)}`);
    const all = perSecond([...counted.values()].reduce((sum, count) => sum + count, 0));
    // The beat alone makes one in 2 s: with less nothing was counted.
    expect(all).toBeGreaterThan(0.4);
    expect(all, most.join('\n')).toBeLessThan(MOST_PER_SECOND);
  });
});

/** All that connections from now on of this process send to PostgreSQL, by text. */
function countStatements(): Map<string, number> {
  const counts = new Map<string, number>();
  const { query } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function counting(this: pg.Client, ...sent: unknown[]) {
    const [asked] = sent as [string | { text?: string }];
    const text = typeof asked === 'string' ? asked : (asked.text ?? '');
    counts.set(text, (counts.get(text) ?? 0) + 1);
    return (query as (...parameters: unknown[]) => unknown).apply(this, sent);
  });
  onTestFinished(() => spy.mockRestore());
  return counts;
}
