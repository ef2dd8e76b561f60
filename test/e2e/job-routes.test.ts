import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import type { Caller } from '../harness/world.ts';
import { World } from '../harness/world.ts';

/** The job endpoints as a caller sees them. */

const GOOD = { description: 'd', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };

interface Envelope<T> {
  status: string;
  data: T;
}

interface Job extends Record<string, unknown> {
  id: string;
  status: string;
}

describe('the job endpoints', () => {
  let world: World;
  let other: Caller;
  let routerId: string;

  beforeAll(async () => {
    world = await World.start();
    other = await world.addTeam('Other');
    routerId = (await world.routerIds())[0]!;
  });

  afterAll(() => world.close());

  const post = (body: unknown, headers = {}, caller = world.caller) =>
    caller.call<Envelope<Record<string, string>> & { errors: Record<string, string[]> }>(
      'POST',
      `/api/asynchronous/${routerId}`,
      body,
      headers,
    );
  const list = (query = '') => world.caller.call<Envelope<Job[]>>('GET', `/api/routers/${routerId}/jobs${query}`);
  const read = (id: string) => world.caller.call<Envelope<Job>>('GET', `/api/routers/${routerId}/jobs/${id}`);
  const remove = (id: string, caller = world.caller) => caller.call<Envelope<Job>>('DELETE', `/api/routers/${routerId}/jobs/${id}`);
  const runs = (id: string) => world.simulators[0]!.executions.filter((run) => run.kind === 'script' && run.name === `signalbox-${id}`);

  async function finished(id: string): Promise<Job> {
    return waitUntil('the job ends', async () => {
      const { data } = (await read(id)).body;
      return data['phase'] === 'done' || data['phase'] === 'unknown' ? data : undefined;
    });
  }

  it('answer a receipt', async () => {
    const answer = await post({ ...GOOD, notify_url: 'https://example.com/hook' }, { 'idempotency-key': 'key-1' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: 'success',
      data: {
        idempotency_key: 'key-1',
        request_id: answer.headers.get('x-request-id'),
        target: routerId,
        notify_url: 'https://example.com/hook',
        date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        job_id: expect.any(String),
      },
    });
    await finished(answer.body.data['job_id']!);
  });

  it('show a job with all documented fields', async () => {
    const { body } = await post(GOOD);
    const job = await finished(body.data['job_id']!);
    expect(job).toMatchObject({
      id: body.data['job_id'],
      token: expect.stringMatching(/^\w{32}$/),
      idempotency_key: body.data['idempotency_key'],
      description: 'd',
      express_execute: true,
      needs_acknowledgement: true,
      make_backup: false,
      status: 'completed',
      failed_at: null,
      deleted_at: null,
      phase: 'done',
      reason: null,
      error: null,
      output: '1\n',
      site_id: null,
      backup: null,
    });
    // A list leaves out what only one job shows.
    expect(job).toMatchObject((await list()).body.data[0]!);
    expect(job).toMatchObject({
      script: GOOD.script,
      agent_id: expect.any(String),
      accepted_at: expect.stringMatching(/Z$/),
      created_by: expect.any(String),
      campaign_id: null,
      guard: null,
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a description that is too long', { description: 'x'.repeat(101) }, 'description'],
    ['a script that is too long', { script: 'x'.repeat(2001) }, 'script'],
    ['an empty script', { script: ' \n' }, 'script'],
    ['a script with half a character', { script: ':put \ud800' }, 'script'],
    ['a missing flag', { make_backup: undefined }, 'make_backup'],
    ['a flag that is none', { express_execute: 'yes' }, 'express_execute'],
    ['a time-out of nothing', { timeout_seconds: 0 }, 'timeout_seconds'],
    ['an endless delivery', { deliver_within_minutes: 1e9 }, 'deliver_within_minutes'],
    ['a callback that is no URL', { notify_url: 'nowhere' }, 'notify_url'],
    ['a callback without encryption', { notify_url: 'http://example.com/' }, 'notify_url'],
    ['a callback into a private network', { notify_url: 'https://10.0.0.1/' }, 'notify_url'],
    ['a callback to a service of a cloud, spelled otherwise', { notify_url: 'https://0xa9fea9fe/latest/' }, 'notify_url'],
    ['a callback with a password', { notify_url: 'https://u:p@example.com/' }, 'notify_url'],
  ])('refuse %s, naming the field', async (_what, change, field) => {
    const answer = await post({ ...GOOD, ...change });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  it('accept the longest allowed script and description', async () => {
    const script = `:put "${'é'.repeat(1992)}"`;
    expect(script).toHaveLength(1999);
    const { status, body } = await post({ ...GOOD, description: 'x'.repeat(100), script });
    expect(status).toBe(200);
    expect(await finished(body.data['job_id']!)).toMatchObject({ status: 'completed', output: `${'é'.repeat(1992)}\n` });
  });

  it('show nothing to another team', async () => {
    const { body } = await post(GOOD);
    const id = body.data['job_id']!;
    const attempts = await Promise.all([
      post(GOOD, {}, other),
      other.call('GET', `/api/routers/${routerId}/jobs`),
      other.call('GET', `/api/routers/${routerId}/jobs/${id}`),
      remove(id, other),
    ]);
    expect(attempts.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    await finished(id);
  });

  it('answer 404 for unknown ids', async () => {
    const answers = await Promise.all([read(randomUUID()), read('nonsense'), remove(randomUUID())]);
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404]);
  });

  it('list jobs newest first, page by page and by status', async () => {
    const failing = await post({ ...GOOD, script: ':error "no"' });
    await finished(failing.body.data['job_id']!);
    const all = (await list()).body.data.map((job) => job.id);
    expect(all[0]).toBe(failing.body.data['job_id']);
    const first = await list('?limit=2');
    expect(first.body.data.map((job) => job.id)).toEqual(all.slice(0, 2));
    const next = /<(.*)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
    const second = await world.caller.call<Envelope<Job[]>>('GET', next!);
    expect(second.body.data.map((job) => job.id)).toEqual(all.slice(2, 4));
    expect((await list('?status=failed')).body.data.map((job) => job.id)).toEqual([failing.body.data['job_id']]);
    expect((await list('?status=failed,completed')).body.data).toHaveLength(all.length);
    expect((await list('?status=failed&status=completed')).body.data).toHaveLength(all.length);
    expect((await list('?status=odd')).status).toBe(422);
  });

  it('cancel a pending job, and refuse to cancel a running one', async () => {
    const running = (await post({ ...GOOD, script: ':delay 2s' })).body.data['job_id']!;
    const waiting = (await post(GOOD)).body.data['job_id']!;
    await waitUntil('it runs', async () => (await read(running)).body.data.status === 'running');
    expect(await remove(waiting)).toMatchObject({ status: 200, body: { data: { status: 'deleted', phase: 'canceled' } } });
    expect(await remove(running)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await finished(running)).toMatchObject({ status: 'completed' });
    const deleted = await remove(running);
    expect(deleted).toMatchObject({ status: 200, body: { data: { status: 'deleted', phase: 'done' } } });
    expect((await remove(running)).body).toEqual(deleted.body);
    expect(runs(waiting)).toEqual([]);
  });

  it.each([
    [':put "what it said"', { completed_at: expect.any(String), failed_at: null, reason: null, error: null, output: 'what it said\n' }],
    [
      ':error "what was wrong"',
      {
        completed_at: null,
        failed_at: expect.any(String),
        reason: 'script_error',
        error: expect.stringContaining('what was wrong'),
        output: 'what was wrong (:error; line 1)\n',
      },
    ],
  ])('show the result of a deleted job: %s', async (script, did) => {
    const id = (await post({ ...GOOD, script })).body.data['job_id']!;
    const before = await finished(id);
    expect(before).toMatchObject(did);
    await remove(id);
    const { data } = (await read(id)).body;
    expect(data).toEqual({ ...before, status: 'deleted', deleted_at: expect.stringMatching(/Z$/) });
    const listed = (await list('?status=deleted')).body.data.find((job) => job.id === id);
    expect(data).toMatchObject(listed!);
    expect((await list('?status=completed,failed')).body.data.map((job) => job.id)).not.toContain(id);
  });

  it('tell what happened to a job, and who did it', async () => {
    const { body } = await post(GOOD);
    const job = await finished(body.data['job_id']!);
    await remove(job.id);
    const path = `/api/routers/${job['router_id'] as string}/jobs/${job.id}/timeline`;
    const { data } = (await world.caller.call<{ data: { timeline: Record<string, unknown>[] } }>('GET', path)).body;
    const kinds = data.timeline.filter(({ kind }) => kind !== 'waiting').map(({ kind }) => kind);
    expect(kinds).toEqual(['created', 'accepted', 'began', 'ended', 'deleted']);
    expect(data.timeline[0]).toMatchObject({ phase: 'queued', by: { type: 'api_key', name: expect.any(String) } });
    expect(data.timeline.find(({ kind }) => kind === 'began')).toMatchObject({
      at: job['started_at'],
      phase: 'running',
      epoch: expect.any(Number),
      by: { type: 'agent', id: job['agent_id'], name: 'test' },
    });
    expect(data.timeline.at(-1)).toMatchObject({ kind: 'deleted', by: { type: 'api_key' } });
  });

  it('keep a job across a restart of the control plane during its script', async () => {
    const id = (await post({ ...GOOD, script: ':delay 1500ms; :put "still here"' })).body.data['job_id']!;
    await waitUntil('it runs', () => runs(id).length === 1);
    await world.restartServer();
    expect(await finished(id)).toMatchObject({ status: 'completed', output: 'still here\n' });
    expect(runs(id)).toHaveLength(1);
  });
});
