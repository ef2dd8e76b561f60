import { describe, expect, test } from 'vitest';
import { ApiClient } from '../../../client/api-client.ts';
import { ConnectionError, ProblemError, Signalbox } from '../../../client/index.ts';

/** A server that answers from a list, and what it was asked. */
function scripted(...answers: (Response | Error)[]) {
  const asked: { method: string; url: string; headers: Headers }[] = [];
  const pauses: number[] = [];
  const told: unknown[] = [];
  const signalbox = new Signalbox({
    server: 'http://signalbox.test/base/',
    key: 'key',
    fetch: (url, init) => {
      asked.push({ method: init!.method!, url: url as string, headers: new Headers(init!.headers) });
      const answer = answers.shift()!;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    pause: async (ms) => void pauses.push(ms),
    onPause: (pause) => void told.push(pause),
  });
  return { signalbox, asked, pauses, told };
}

const ok = (data: unknown, headers: Record<string, string> = {}) => Response.json({ status: 'success', data }, { headers });
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ status, code, message: `no: ${code}`, errors: { field: ['is odd'] }, request_id: 'r1' }, { status, headers });
const broken = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
const job = { description: 'd', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };

describe('a call', () => {
  test('goes to its route with the key, and parameters in their places', async () => {
    const { signalbox, asked } = scripted(ok([]));
    await signalbox.call('listJobs', { path: { router_id: 'a/b' }, query: { limit: 5, status: ['failed', 'unknown'] } });
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: 'http://signalbox.test/base/api/routers/a%2Fb/jobs?limit=5&status=failed&status=unknown',
    });
    expect(asked[0]!.headers.get('authorization')).toBe('Bearer key');
  });

  test('that is refused is a typed error', async () => {
    const { signalbox } = scripted(problem(422, 'rejected_by_router'));
    const error = await signalbox.run('r', '/x').catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 422,
      code: 'rejected_by_router',
      message: 'no: rejected_by_router',
      errors: { field: ['is odd'] },
      requestId: 'r1',
    });
  });

  test('answered by something else than a control plane says so', async () => {
    await expect(scripted(new Response('<html>')).signalbox.call('listRouters', {})).rejects.toMatchObject({ code: 'unexpected_answer' });
    await expect(scripted(new Response('<html>', { status: 502 })).signalbox.call('listRouters', {})).rejects.toMatchObject({
      status: 502,
    });
  });

  test('that creates something carries a key of its own, the same on every repetition', async () => {
    const { signalbox, asked } = scripted(broken(), broken(), ok({ job_id: 'j' }));
    expect(await signalbox.submitJob('r', job)).toBe('j');
    const keys = asked.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    const own = scripted(ok({ job_id: 'j' }));
    await own.signalbox.submitJob('r', job, { idempotencyKey: 'mine' });
    expect(own.asked[0]!.headers.get('idempotency-key')).toBe('mine');
  });

  test('whose first try is still under way is answered by it', async () => {
    const underWay = () => problem(409, 'in_progress', { 'retry-after': '1' });
    const { signalbox, asked, pauses } = scripted(broken(), underWay(), underWay(), underWay(), underWay(), ok({ job_id: 'j' }));
    expect(await signalbox.submitJob('r', job)).toBe('j');
    expect(asked).toHaveLength(6);
    expect(pauses.slice(1)).toEqual([1000, 1000, 1000, 1000]);
  });

  test('but not waited for longer than for an answer', async () => {
    const underWay = () => problem(409, 'in_progress', { 'retry-after': '1' });
    const { signalbox, asked } = scripted(...Array.from({ length: 20 }, underWay));
    await expect(signalbox.submitJob('r', job, { timeoutMs: 5000 })).rejects.toMatchObject({ status: 409, code: 'in_progress' });
    expect(asked).toHaveLength(6);
  });

  test('that met the rate limit waits for Retry-After, but not forever', async () => {
    const limited = (seconds: number) => problem(429, 'rate_limited', { 'retry-after': String(seconds) });
    const { signalbox, pauses, told } = scripted(limited(7), limited(3600), ok([]));
    await signalbox.call('listRouters', {});
    expect(pauses).toEqual([7000, 60_000]);
    expect(told).toEqual([
      { reason: 'rate_limited', ms: 7000 },
      { reason: 'rate_limited', ms: 60_000 },
    ]);
    await expect(scripted(limited(1), limited(1), limited(1), limited(1)).signalbox.call('listRouters', {})).rejects.toMatchObject({
      status: 429,
    });
  });

  test('is not repeated after any other refusal', async () => {
    const { signalbox, asked } = scripted(problem(503, 'agent_offline'));
    await expect(signalbox.run('r', '/x')).rejects.toMatchObject({ code: 'agent_offline' });
    expect(asked).toHaveLength(1);
  });

  test('without any answer says whether something may have been done', async () => {
    const refused = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
    const lost = await scripted(broken(), broken(), broken(), broken())
      .signalbox.run('r', '/x')
      .catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(ConnectionError);
    expect(lost).toMatchObject({ maybeDone: true });
    await expect(scripted(refused(), refused(), refused(), refused()).signalbox.run('r', '/x')).rejects.toMatchObject({ maybeDone: false });
  });

  test('for which there was no credential was certainly not done', async () => {
    let sent = 0;
    const signalbox = new ApiClient({
      server: 'http://signalbox.test',
      key: () => Promise.reject(new TypeError('Failed to fetch')),
      fetch: () => Promise.resolve(Response.json({}, { status: 200 + sent++ })),
      pause: () => Promise.resolve(),
    });
    await expect(signalbox.run('r', '/x')).rejects.toMatchObject({ maybeDone: false });
    expect(sent).toBe(0);
  });

  test('ends when its caller gives up', async () => {
    const { signalbox, asked } = scripted(problem(429, 'rate_limited'), ok([]));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(signalbox.call('listRouters', {}, { signal })).rejects.toThrow('enough');
    expect(asked.length).toBeLessThanOrEqual(1);
  });
});

test('pages follow the link to the next one, as they are used', async () => {
  const next = { link: '</api/routers?limit=200&cursor=abc>; rel="next"' };
  const { signalbox, asked } = scripted(ok([{ id: '1' }, { id: '2' }], next), ok([{ id: '3' }]));
  expect((await signalbox.all('listRouters', {})).map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(asked[1]!.url).toBe('http://signalbox.test/base/api/routers?limit=200&cursor=abc');
});
