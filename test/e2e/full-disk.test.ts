import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Volume } from '../harness/chaos/volume.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Small disks of their own, filled to the last byte: nothing is promised that is not kept, and all goes on afterwards. */

interface Job {
  phase: string;
  status: string;
  output: string | null;
}

const body = (script: string) => ({
  description: 'full disk',
  script,
  make_backup: false,
  express_execute: true,
  needs_acknowledgement: true,
});

describe('a full disk', () => {
  let folder: string;
  let world: World | undefined;
  let volume: Volume;

  beforeEach(async ({ skip }) => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-full-'));
    volume = await Volume.create(path.join(folder, 'disk'), 16);
    if (!volume.canBeFilled) skip('a small disk cannot be mounted here');
  });

  afterEach(async () => {
    await world?.close();
    world = undefined;
    await volume.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const submit = (routerId: string, script: string) =>
    world!.caller.call<{ code?: string; data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, body(script));
  const read = async (routerId: string, jobId: string): Promise<Job> =>
    (await world!.caller.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${jobId}`)).body.data;
  const completed = (routerId: string, jobId: string): Promise<Job> =>
    waitUntil('the job is completed', async () => {
      const job = await read(routerId, jobId);
      return job.status === 'completed' ? job : undefined;
    });

  it('under the database refuses a job as unavailable and loses no acknowledged job', async () => {
    world = await World.start({ routers: [{}], databaseUrl: `sqlite:${path.join(volume.folder, 'signalbox.db')}` });
    const [routerId] = (await world.routerIds()) as [string];
    const before = await submit(routerId, ':put before');
    await completed(routerId, before.body.data.job_id);
    await volume.fill();
    // The log of the database may have some room left that it has had before.
    const answers: Awaited<ReturnType<typeof submit>>[] = [];
    const refused = () => answers.filter(({ status }) => status !== 200);
    while (refused().length < 10 && answers.length < 500) answers.push(await submit(routerId, `:put ${'x'.repeat(1900)}`));
    expect(refused().length).toBeGreaterThan(0);
    for (const { status, headers, body: problem } of refused()) {
      expect(status).toBe(503);
      expect(headers.get('content-type')).toContain('application/problem+json');
      expect(problem.code).toBe('unavailable');
    }
    expect((await world.caller.call('GET', `/api/routers/${routerId}/jobs`)).status, 'what is stored can be read').toBe(200);
    await volume.empty();
    const after = await waitUntil('jobs are taken again', async () => {
      const answer = await submit(routerId, ':put after');
      return answer.status === 200 ? answer : undefined;
    });
    for (const { body: receipt } of [...answers.filter(({ status }) => status === 200), after])
      await completed(routerId, receipt.data.job_id);
  });

  it('under the journal makes jobs wait, and reports an executed script when there is space', async () => {
    world = await World.start({ routers: [{}, {}, {}] });
    const routerIds = await world.routerIds();
    await world.agent?.close();
    await cp(path.join(world.folder, 'agent-state'), volume.folder, { recursive: true });
    await rm(path.join(world.folder, 'agent-state'), { recursive: true });
    await world.startAgent({ state: volume.folder });
    await world.routerIds();
    // Its output does not fit into the rest of the journal's last block.
    const { body: running } = await submit(routerIds[0]!, `:delay 1500ms; :for i from=1 to=100 do={ :put "${'x'.repeat(100)}" }`);
    await waitUntil('the script runs', async () => (await read(routerIds[0]!, running.data.job_id)).phase === 'running');
    await volume.fill();
    const waiting = await Promise.all(
      routerIds.slice(1).flatMap((id) => [submit(id, `:put 1;# ${'y'.repeat(1900)}`), submit(id, `:put 2;# ${'y'.repeat(1900)}`)]),
    );
    await waitUntil('the script is over', () =>
      world!.simulators[0]!.executions.some(({ kind, outcome }) => kind === 'script' && outcome === 'ok'),
    );
    expect(await read(routerIds[0]!, running.data.job_id)).toMatchObject({ phase: 'running' });
    await volume.empty();
    expect((await completed(routerIds[0]!, running.data.job_id)).output).toHaveLength(10_100);
    for (const [index, { body: receipt }] of waiting.entries()) await completed(routerIds[1 + Math.floor(index / 2)]!, receipt.data.job_id);
    const runs = world.simulators.flatMap(({ executions }) => executions.filter(({ kind }) => kind === 'script'));
    expect(runs).toHaveLength(5);
  });
});
