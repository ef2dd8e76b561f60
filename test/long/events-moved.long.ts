import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { faultsOf, MovingReader } from '../harness/cluster/moving-reader.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

const MINUTES = Number(process.env['EVENTS_MINUTES'] ?? 10);
const EVENTS_A_SECOND = 50;
const MOVE_EVERY_MS = 5000;
const SETTLE_MS = 30_000;

describe.skipIf(!postgres || !hasNats())('a reader of the event stream that moves between three control planes', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('gets each event once, in order, without resync', { timeout: (MINUTES + 5) * 60_000 }, async () => {
    const { world, nodes } = await startMembers(closers, { members: 3, routers: [] });
    const { teamId, apiKey } = world.caller;
    const reader = new MovingReader(apiKey);
    closers.push(() => reader.leave());
    await reader.moveTo(nodes[0]!.url);
    const published = new Map<string, number>();
    const startedAt = performance.now();
    const elapsedMs = (): number => performance.now() - startedAt;
    for (let n = 0; elapsedMs() < MINUTES * 60_000; n += 1) {
      const from = `node ${n % 3}`;
      const own = (published.get(from) ?? 0) + 1;
      nodes[n % 3]!.services.events.publish({ teamId, type: 'job.pending', data: { job_id: `${from} ${own}`, from, n: own } });
      published.set(from, own);
      if (elapsedMs() >= reader.moves * MOVE_EVERY_MS) await reader.moveTo(nodes[reader.moves % 3]!.url);
      await pause(Math.max(0, ((n + 1) * 1000) / EVENTS_A_SECOND - elapsedMs()));
    }
    const count = [...published.values()].reduce((sum, each) => sum + each, 0);
    // What is missing says more than that it is missing.
    await waitUntil('all have come', () => reader.events.length >= count, SETTLE_MS).catch(() => undefined);
    expect(faultsOf(reader.events, published)).toEqual([]);
  });
});
