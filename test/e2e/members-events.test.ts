import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import type { ClusterOfMembers } from '../harness/cluster/members.ts';
import { faultsOf, MovingReader } from '../harness/cluster/moving-reader.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

describe.skipIf(!postgres || !hasNats())('the event stream of several control planes', () => {
  let closers: (() => Promise<void>)[];
  let cluster: ClusterOfMembers;

  beforeEach(async () => {
    closers = [];
    cluster = await startMembers(closers, { members: 3 });
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('goes on wherever its reader goes: each event once, in order, without resync', async () => {
    const { world, nodes } = cluster;
    const { teamId, apiKey } = world.caller;
    const reader = new MovingReader(apiKey);
    closers.push(() => reader.leave());
    await reader.moveTo(nodes[0]!.url);
    const published = new Map<string, number>();
    for (let n = 1; n <= 300; n += 1) {
      const from = `node ${n % 3}`;
      const own = (published.get(from) ?? 0) + 1;
      nodes[n % 3]!.services.events.publish({ teamId, type: 'job.pending', data: { from, n: own } });
      published.set(from, own);
      if (n % 10 === 0) await reader.moveTo(nodes[(n / 10) % 3]!.url);
      await pause(10);
    }
    const count = (): number => reader.events.filter(({ data }) => typeof data.n === 'number').length;
    await waitUntil('all have come', () => count() >= 300);
    expect(faultsOf(reader.events, published)).toEqual([]);
    expect(reader.moves).toBe(31);
  });

  test('tells everywhere of what happens at one, once, and answers say up to where they contain it', async () => {
    const { world, nodes } = cluster;
    const [routerId] = await world.routerIds();
    const readers = await Promise.all(
      nodes.map(async (node) => {
        const reader = new MovingReader(world.caller.apiKey);
        await reader.moveTo(node.url);
        closers.push(() => reader.leave());
        return reader;
      }),
    );
    const job = await world
      .callerAt(nodes[1]!)
      .call('POST', `/api/asynchronous/${routerId}`, {
        description: 'test',
        script: ':put done',
        make_backup: false,
        express_execute: true,
        needs_acknowledgement: true,
      });
    expect(job.status, JSON.stringify(job.body)).toBe(200);
    const ofJobs = (reader: MovingReader): string[] =>
      reader.events.filter(({ type }) => type.startsWith('job.')).map(({ id, type }) => `${id} ${type}`);
    await waitUntil('all have heard of its end', () => readers.every((reader) => ofJobs(reader).at(-1)?.endsWith(' job.completed')));
    const [first, ...others] = readers.map(ofJobs);
    for (const same of others) expect(same).toEqual(first);
    // Created, accepted by its agent, begun, ended.
    expect(first!.map((event) => event.split(' ')[1])).toEqual(['job.pending', 'job.pending', 'job.running', 'job.completed']);
    expect(new Set(first).size).toBe(4);
    const ended = readers[0]!.events.find(({ type }) => type === 'job.completed')!;
    const list = await world.callerAt(nodes[2]!).call('GET', `/api/routers/${routerId}/jobs`);
    const [origin, number] = list.headers.get('x-event-id')!.split('.');
    expect(origin).toBe(ended.id.split('.')[0]);
    expect(Number(number)).toBeGreaterThanOrEqual(Number(ended.id.split('.')[1]));
    // A reader from there is told of nothing that the answer has.
    const late = new MovingReader(world.caller.apiKey, list.headers.get('x-event-id')!);
    closers.push(() => late.leave());
    await late.moveTo(nodes[0]!.url);
    nodes[0]!.services.events.publish({ teamId: world.caller.teamId, type: 'job.pending', data: { n: 1 } });
    await waitUntil('the next one has come', () => late.events.some(({ data }) => data.n === 1));
    expect(late.events.filter(({ type }) => type.startsWith('job.'))).toHaveLength(1);
  });
});
