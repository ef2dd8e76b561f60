import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { Listener } from '../harness/event-listener.ts';
import { fastTime } from '../harness/fast-time.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

const GUARD_SECONDS = 60;
/** A router's time runs ten times as fast. */
const FASTER = 10;

describe.each(databaseKinds())('events of an undo guard, on $name', ({ create }) => {
  let database: TestDatabase;
  let world: World;
  let listener: Listener;
  let routerIds: string[];
  beforeAll(async () => {
    database = await create();
    const router = { version: '7.18.2', time: fastTime(FASTER) };
    world = await World.start({ databaseUrl: database.url, routers: [router, router] });
    routerIds = await world.routerIds();
    listener = await Listener.start(world, world.caller);
  });
  afterAll(async () => {
    await listener.stop();
    await world.close();
    await database.remove();
  });

  /** Runs a guarded script, and resolves with its events once it has ended. */
  const run = async (index: number, script: string, end: string) => {
    const routerId = routerIds[index]!;
    const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, {
      description: 'guarded',
      script,
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
      undo_unless_reachable_seconds: GUARD_SECONDS,
    });
    const jobId = body.data.job_id;
    const mine = () => listener.heard.filter(({ data }) => data['job_id'] === jobId);
    await waitUntil(`${end} is heard`, () => mine().some(({ type }) => type === end), 60_000);
    const types = mine()
      .map(({ type }) => type)
      .filter((type, at, all) => type !== all[at - 1]);
    const read = (type: string) => mine().find((event) => event.type === type)?.data;
    return { jobId, routerId, types, read };
  };

  test('armed with the moment at which it fires, and disarmed when the router is still reachable', async () => {
    const { jobId, routerId, types, read } = await run(0, '/system identity set name=renamed', 'job.completed');
    const ours = { job_id: jobId, router_id: routerId, description: 'guarded' };
    expect(types).toEqual(['job.pending', 'job.guard_armed', 'job.running', 'job.guard_disarmed', 'job.completed']);
    expect(read('job.guard_armed')).toMatchObject(ours);
    expect(read('job.guard_disarmed')).toMatchObject({ ...ours, fires_at: null });
    const { at, fires_at: firesAt } = read('job.guard_armed')!;
    const left = (Date.parse(String(firesAt)) - Date.parse(String(at))) / 1000;
    expect(left).toBeGreaterThan(GUARD_SECONDS / 2);
    expect(left).toBeLessThanOrEqual(GUARD_SECONDS * 2);
  });

  test('armed and never disarmed when the script locks everybody out; the job is rolled back, and has failed', async () => {
    const { jobId, routerId, types, read } = await run(1, '/ip address remove [find]', 'job.failed');
    expect(types.filter((type) => type !== 'job.pending' && type !== 'job.running')).toEqual([
      'job.guard_armed',
      'job.rolled_back',
      'job.failed',
    ]);
    const rolledBack = { job_id: jobId, router_id: routerId, status: 'failed', reason: 'rolled_back' };
    expect(read('job.rolled_back')).toMatchObject(rolledBack);
    expect(read('job.failed')).toMatchObject(rolledBack);
  });
});
