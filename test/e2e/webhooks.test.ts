import { access } from 'node:fs/promises';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { World } from '../harness/world.ts';

/** Updates of real jobs on a simulated router, from the POST to a program that verifies them. */

interface Delivery {
  id: string;
  type: string;
  seq_id: number;
  state: string;
  attempts: { at: string; status: number | null; duration_ms: number; error: string | null }[];
}

let world: World;
let receiver: WebhookReceiver;
let routerId: string;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  world = await World.start();
  routerId = (await world.routerIds())[0]!;
});
afterEach(async () => {
  await world.close();
  await receiver.close();
});

async function submit(script: string, notifyUrl = `${receiver.url}/jobs`): Promise<string> {
  const body = {
    description: 'test',
    script,
    make_backup: false,
    express_execute: true,
    needs_acknowledgement: true,
    notify_url: notifyUrl,
  };
  const answer = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.job_id;
}

const logOf = (jobId: string) => `/api/routers/${routerId}/jobs/${jobId}/deliveries`;

async function deliveries(jobId: string): Promise<Delivery[]> {
  return (await world.caller.call<{ data: Delivery[] }>('GET', logOf(jobId))).body.data;
}

const until = (jobId: string, states: string): Promise<Delivery[]> =>
  waitUntil(`deliveries are: ${states}`, async () => {
    const found = await deliveries(jobId);
    return found.map(({ type, state }) => `${type.replace('job.', '')} ${state}`).join(', ') === states ? found : undefined;
  });

async function newSecret(body?: object): Promise<string> {
  const answer = await world.caller.call<{ data: { secret: string } }>('POST', '/api/webhook-secret', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return answer.body.data.secret;
}

describe('a job with a notify_url', () => {
  test('delivers each step, and the published library verifies the signature', async () => {
    const secret = await newSecret({});
    const jobId = await submit(':put "a word that stays here"');
    await until(jobId, 'completed delivered, running delivered, loaded delivered');
    const events = receiver.received.map(({ body, headers }) => new Webhook(secret).verify(body, headers)) as {
      type: string;
      timestamp: string;
      data: Record<string, unknown>;
    }[];
    expect(events.map(({ type, data }) => [type, data['id'], data['status']])).toEqual([
      ['job.loaded', jobId, 'pending'],
      ['job.running', jobId, 'running'],
      ['job.completed', jobId, 'completed'],
    ]);
    const seqs = events.map(({ data }) => Number(data['seq_id']));
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(events[2]!.data).toMatchObject({
      router_id: routerId,
      reason: null,
      completed_at: events[2]!.timestamp,
      failed_at: null,
      deleted_at: null,
    });
    expect(receiver.received.every(({ path }) => path === '/jobs')).toBe(true);
    expect(JSON.stringify(receiver.received)).not.toContain('a word that stays here');
  });

  test('delivers after a restart of the control plane when its receiver was down', async () => {
    receiver.reply = 500;
    const jobId = await submit(':put 1');
    await waitUntil('the job is done', async () => {
      const { body } = await world.caller.call<{ data: { status: string } }>('GET', `/api/routers/${routerId}/jobs/${jobId}`);
      return body.data.status === 'completed';
    });
    await until(jobId, 'completed pending, running pending, loaded pending');
    await world.restartServer();
    receiver.reply = 200;
    const [, , first] = await until(jobId, 'completed delivered, running delivered, loaded delivered');
    expect(first!.attempts[0]).toMatchObject({ status: 500, error: 'http_status' });
    expect(first!.attempts.at(-1)).toMatchObject({ status: 200, error: null, duration_ms: expect.any(Number) });
    expect(receiver.types.replace(/(loaded ?)+/, 'loaded ')).toBe('loaded running completed');
  });

  test('delivers failure and deletion, and repeats a delivery on request', async () => {
    const jobId = await submit(':error "no"');
    await until(jobId, 'failed delivered, running delivered, loaded delivered');
    await world.caller.call('DELETE', `/api/routers/${routerId}/jobs/${jobId}`);
    const [deleted] = await until(jobId, 'deleted delivered, failed delivered, running delivered, loaded delivered');
    expect(JSON.parse(receiver.received[2]!.body)).toMatchObject({ type: 'job.failed', data: { reason: 'script_error' } });
    const again = await world.caller.call<{ data: Delivery }>('POST', `${logOf(jobId)}/${deleted!.id}/resend`, {});
    expect(again).toMatchObject({ status: 200, body: { data: { id: deleted!.id, type: 'job.deleted' } } });
    await waitUntil('it has come twice', () => receiver.types === 'loaded running failed deleted deleted');
    expect(receiver.received[3]!.headers['webhook-id']).toBe(deleted!.id);
    expect(receiver.received[4]!.headers['webhook-id']).toBe(deleted!.id);
  });

  test('is refused when its receiver address is forbidden', async () => {
    const urls = [
      'http://10.0.0.1/',
      'http://example.com/',
      'ftp://example.com/',
      'https://user:word@example.com/',
      'https://169.254.169.254/latest/meta-data/',
    ];
    for (const url of urls) {
      const body = {
        description: 'x',
        script: ':put 1',
        make_backup: false,
        express_execute: false,
        needs_acknowledgement: true,
        notify_url: url,
      };
      const answer = await world.caller.call<{ errors: object }>('POST', `/api/asynchronous/${routerId}`, body);
      expect([answer.status, Object.keys(answer.body.errors)], url).toEqual([422, ['notify_url']]);
    }
  });

  test('has a delivery log in pages, newest first', async () => {
    const jobId = await submit(':put 1');
    await until(jobId, 'completed delivered, running delivered, loaded delivered');
    const first = await world.caller.call<{ data: Delivery[] }>('GET', `${logOf(jobId)}?limit=2`);
    expect(first.body.data.map(({ type }) => type)).toEqual(['job.completed', 'job.running']);
    const next = /<(.*)>; rel="next"/.exec(first.headers.get('link') ?? '')![1]!;
    expect((await world.caller.call<{ data: Delivery[] }>('GET', next)).body.data.map(({ type }) => type)).toEqual(['job.loaded']);
  });
});

describe('the secret of a team', () => {
  test('is shown once; afterwards only its age is visible', async () => {
    expect((await world.caller.call('GET', '/api/webhook-secret')).body).toEqual({ status: 'success', data: null });
    const secret = await newSecret();
    expect(secret).toMatch(/^whsec_/);
    const state = await world.caller.call('GET', '/api/webhook-secret');
    expect(state.body).toEqual({ status: 'success', data: { created_at: expect.any(String), shown: true, previous_valid_until: null } });
    expect(JSON.stringify(state.body)).not.toContain(secret);
  });

  test('is not shown again for the same Idempotency-Key', async () => {
    const rotate = () => world.caller.call('POST', '/api/webhook-secret', {}, { 'idempotency-key': 'rotate-1' });
    expect((await rotate()).status).toBe(200);
    expect((await rotate()).status).toBe(409);
  });

  test('signs beside its successor for the requested time', async () => {
    const old = await newSecret({});
    const fresh = await newSecret({ overlap_minutes: 5 });
    await until(await submit(':put 1'), 'completed delivered, running delivered, loaded delivered');
    const { body, headers } = receiver.received[0]!;
    for (const secret of [old, fresh]) expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'job.loaded' });
    expect((await world.caller.call('POST', '/api/webhook-secret', { overlap_minutes: 10_081 })).status).toBe(422);
  });

  test('is available to administrators only', async () => {
    const { credentials: auth } = world.server.services;
    const { apiKey } = await auth.createApiKey({ teamId: world.caller.teamId, name: 'operator', role: 'operator', createdBy: null });
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(`${world.server.url}/api/webhook-secret`, { method, headers: { authorization: `Bearer ${apiKey}` } });
      expect(answer.status).toBe(403);
    }
  });

  test('needs a key file, which the first start creates', async () => {
    await access(path.join(world.folder, 'secret.key'));
  });
});
