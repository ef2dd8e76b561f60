import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWorld, postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import type { ClusterOfMembers } from '../harness/cluster/members.ts';
import { MovingReader } from '../harness/cluster/moving-reader.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Caller, World } from '../harness/world.ts';

interface Job {
  status: string;
  phase: string;
  reason: string | null;
}

const SCRIPT = { description: 'test', make_backup: false, express_execute: true, needs_acknowledgement: true };

async function submit(caller: Caller, routerId: string, script: string, more: object = {}): Promise<string> {
  const answer = await caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, { ...SCRIPT, script, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.job_id;
}

async function read(caller: Caller, routerId: string, id: string): Promise<Job> {
  return (await caller.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${id}`)).body.data;
}

const runsOf = (world: World, id: string): number =>
  world.simulators[0]!.executions.filter(({ kind, name }) => kind === 'script' && name === `signalbox-${id}`).length;

describe.skipIf(!postgres || !hasNats())('jobs of several control planes', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  describe('in one process', () => {
    let cluster: ClusterOfMembers;
    let world: World;
    let routerId: string;
    /** Of a control plane that does not have the agent. */
    let other: Caller;

    beforeEach(async () => {
      cluster = await startMembers(closers, { members: 2 });
      world = cluster.world;
      routerId = (await world.routerIds())[0]!;
      other = world.callerAt(cluster.nodes[1]!);
    });

    const isOver = async (id: string): Promise<Job | undefined> => {
      const job = await read(other, routerId, id);
      return ['completed', 'failed', 'unknown', 'expired', 'deleted'].includes(job.status) ? job : undefined;
    };

    test('run once each, one after the other, although they are created where their agent is not', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => submit(other, routerId, `:put "${n}"`)));
      for (const id of ids) expect(await waitUntil('it ends', () => isOver(id))).toMatchObject({ status: 'completed' });
      expect(ids.map((id) => runsOf(world, id))).toEqual(ids.map(() => 1));
    });

    test('are found by a look while the bus is away', async () => {
      await cluster.nats.kill();
      const id = await submit(other, routerId, ':put "found"');
      expect(await waitUntil('it ends', () => isOver(id))).toMatchObject({ status: 'completed' });
      expect(runsOf(world, id)).toBe(1);
    });

    test('are taken back from their agent by a control plane that does not have it', async () => {
      const [simulator] = world.simulators;
      simulator!.faults.delayMs = 3000;
      const id = await submit(other, routerId, ':put "never"', { make_backup: true });
      await waitUntil('the agent has it', async () => (await read(other, routerId, id)).phase === 'accepted');
      const canceled = await other.call('DELETE', `/api/routers/${routerId}/jobs/${id}`);
      expect(canceled.status).toBeLessThan(300);
      simulator!.faults.delayMs = 0;
      expect(await waitUntil('it ends', () => isOver(id))).toMatchObject({ status: 'deleted' });
      expect(runsOf(world, id)).toBe(0);
      // The router is free for the next one.
      const next = await submit(other, routerId, ':put "next"');
      expect(await waitUntil('it ends', () => isOver(next))).toMatchObject({ status: 'completed' });
    });

    test('of a campaign are made and counted wherever it was created', async () => {
      const readers = cluster.nodes.map(() => new MovingReader(world.caller.apiKey));
      for (const [n, reader] of readers.entries()) {
        await reader.moveTo(cluster.nodes[n]!.url);
        closers.push(() => reader.leave());
      }
      const created: string[] = [];
      for (const caller of [world.caller, other]) {
        for (let n = 0; n < 2; n += 1) {
          const body = { ...SCRIPT, script: `:put "${n}"`, router_ids: [routerId] };
          const answer = await caller.call<{ data: { id: string } }>('POST', '/api/campaigns', body);
          expect(answer.status, JSON.stringify(answer.body)).toBe(200);
          created.push(answer.body.data.id);
        }
      }
      for (const reader of readers) {
        const of = (type: string): string[] =>
          reader.events.filter((event) => event.type === type).map(({ data }) => String(data.campaign_id));
        await waitUntil('all are completed', () => of('campaign.completed').length >= created.length);
        expect(of('campaign.started').toSorted()).toEqual(created.toSorted());
        expect(of('campaign.completed').toSorted()).toEqual(created.toSorted());
      }
      expect(world.simulators[0]!.executions.filter(({ kind }) => kind === 'script')).toHaveLength(created.length);
    });
  });

  test('end once and truly when the control plane that had their agent is killed', async () => {
    const cluster = await ClusterWorld.start(closers);
    const { world, routerId } = cluster;
    const [simulator] = world.simulators;
    simulator!.faults.delayMs = 1500;
    const id = await submit(world.caller, routerId, ':put "through"');
    const queued = await submit(world.caller, routerId, ':put "after it"');
    await waitUntil('the agent has it', async () => ['accepted', 'running'].includes((await read(world.caller, routerId, id)).phase));
    await cluster.other.kill();
    await waitUntil('the agent has come here', () => cluster.isHere);
    simulator!.faults.delayMs = 0;
    for (const each of [id, queued]) {
      const job = await waitUntil('it ends', async () => {
        const now = await read(world.caller, routerId, each);
        return now.phase === 'done' || now.phase === 'unknown' ? now : undefined;
      });
      expect(job).toMatchObject({ status: 'completed' });
      expect(runsOf(world, each)).toBe(1);
    }
  });
});
