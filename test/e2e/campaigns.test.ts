import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Campaigns over the API, on three simulated routers. */

const SCRIPT = {
  description: 'x',
  script: ':put [/system resource get version]',
  make_backup: false,
  express_execute: true,
  needs_acknowledgement: true,
};

interface Campaign extends Record<string, unknown> {
  id: string;
  state: string;
  finished_at: string | null;
  counts: Record<string, number>;
}

interface Target {
  router_id: string;
  job_id: string | null;
  status: string;
  canary: boolean;
}

interface Body<T> {
  data: T;
  code: string;
  errors: Record<string, string[]>;
}

describe('campaigns', () => {
  let world: World;
  let routerIds: string[];

  beforeAll(async () => {
    world = await World.start({ routers: [{ version: '6.49.10' }, { version: '7.18.2' }, { version: '7.18.2' }] });
    routerIds = await world.routerIds();
  });

  afterAll(() => world.close());

  const call = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    world.caller.call<Body<T>>(method, `/api/campaigns${path}`, body, headers);
  const post = (some: object, headers?: Record<string, string>) =>
    call<Campaign>('POST', '', { ...SCRIPT, router_ids: routerIds, ...some }, headers);
  const read = async (id: string) => (await call<Campaign>('GET', `/${id}`)).body.data;
  const targets = async (id: string, query = '') => (await call<Target[]>('GET', `/${id}/targets${query}`)).body.data;

  async function ended(id: string): Promise<Campaign> {
    return waitUntil('the campaign ends', async () => {
      const campaign = await read(id);
      return campaign.finished_at !== null && campaign;
    });
  }

  it('run a script on every router and group equal outputs', async () => {
    const created = await post({ canary_count: 1, rate_per_minute: 600, most_at_once: 2, abort_after_failures: 1 });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      state: 'running',
      target_count: 3,
      canary_count: 1,
      most_at_once: 2,
      rate_per_minute: 600,
      abort_at_percent: null,
      deliver_within_minutes: 60,
    });
    const campaign = await ended(created.body.data.id);
    expect(campaign).toMatchObject({
      state: 'finished',
      canaries: 'passed',
      stop_reason: null,
      counts: { completed: 3, waiting: 0, skipped: 0 },
    });
    const shown = await targets(campaign.id);
    expect(shown.map(({ router_id: id, status, canary }) => [id, status, canary])).toEqual(
      routerIds.map((id, index) => [id, 'completed', index === 0]),
    );
    const job = (await world.caller.call<Body<Record<string, unknown>>>('GET', `/api/routers/${routerIds[1]}/jobs/${shown[1]!.job_id}`))
      .body.data;
    expect(job).toMatchObject({ status: 'completed', description: 'x', idempotency_key: `campaign ${campaign.id} ${routerIds[1]}` });
    const { data } = (await call<{ total: number; groups: unknown[] }>('GET', `/${campaign.id}/groups`)).body;
    expect(data.total).toBe(2);
    expect(data.groups).toMatchObject([
      { status: 'completed', count: 2, output: expect.stringContaining('7.18.2'), router_ids: routerIds.slice(1) },
      { status: 'completed', count: 1, output: expect.stringContaining('6.49.10'), router_ids: routerIds.slice(0, 1) },
    ]);
    for (const simulator of world.simulators)
      expect(simulator.executions.filter(({ name }) => shown.some(({ job_id }) => name === `signalbox-${job_id}`))).toHaveLength(1);
  });

  it('stop at a failed canary and touch no other router', async () => {
    const { id } = (await post({ script: ':error "not here"' })).body.data;
    expect(await ended(id)).toMatchObject({
      state: 'stopped',
      stop_reason: 'canary_failed',
      canaries: 'failed',
      counts: { failed: 1, skipped: 2 },
    });
    expect(await targets(id, '?status=failed')).toMatchObject([{ router_id: routerIds[0], reason: 'script_error' }]);
    expect(await targets(id, '?status=skipped')).toMatchObject([{ job_id: null }, { job_id: null }]);
  });

  it('continue after a restart of the control plane', async () => {
    const { id } = (await post({ canary_count: 0, rate_per_minute: 40 })).body.data;
    await waitUntil('one has run', async () => (await read(id)).counts['completed'] === 1);
    await world.restartServer();
    const campaign = await ended(id);
    expect(campaign).toMatchObject({ state: 'finished', counts: { completed: 3 } });
    const ids = (await targets(id)).map((target) => target.job_id);
    expect(new Set(ids).size).toBe(3);
    const runs = world.simulators.flatMap(({ executions }) =>
      executions.filter(({ name }) => ids.some((jobId) => name === `signalbox-${jobId}`)),
    );
    expect(runs).toHaveLength(3);
  });

  it('are paused, resumed and canceled', async () => {
    const { id } = (await post({ canary_count: 0, rate_per_minute: 1 })).body.data;
    expect((await call<Campaign>('POST', `/${id}/pause`)).body.data.state).toBe('paused');
    expect((await call<Campaign>('POST', `/${id}/resume`)).body.data.state).toBe('running');
    await waitUntil('one has run', async () => (await read(id)).counts['completed'] === 1);
    const canceled = await call<Campaign>('POST', `/${id}/cancel`);
    expect(canceled.body.data).toMatchObject({
      state: 'canceled',
      taken_back: 0,
      left_running: 0,
      never_started: 2,
      finished_at: expect.any(String),
    });
    const late = await call('POST', `/${id}/resume`);
    expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('are listed newest first, and their routers page by page', async () => {
    const { body } = await call<Campaign[]>('GET', '?limit=2');
    expect(body.data.map(({ state }) => state)).toEqual(['canceled', 'finished']);
    expect(body.data).toEqual([await read(body.data[0]!.id), await read(body.data[1]!.id)]);
    expect(body.data.map(({ counts }) => counts)).toMatchObject([
      { completed: 1, skipped: 2, waiting: 0 },
      { completed: 3, skipped: 0 },
    ]);
    const first = await call<Target[]>('GET', `/${body.data[0]!.id}/targets?limit=2`);
    const next = /<(.*)>; rel="next"/.exec(first.headers.get('link')!)![1]!;
    const second = await world.caller.call<Body<Target[]>>('GET', next);
    expect([...first.body.data, ...second.body.data].map((target) => target.router_id)).toEqual(routerIds);
  });

  it('guard every router when asked, and count one that undid the script as a failure', async () => {
    const { data } = (
      await post({
        router_ids: routerIds.slice(1),
        script: ':put 1',
        undo_unless_reachable_seconds: 60,
        canary_count: 0,
        timeout_seconds: 30,
      })
    ).body;
    expect(data).toMatchObject({ undo_unless_reachable_seconds: 60, timeout_seconds: 30 });
    expect(await ended(data.id)).toMatchObject({ state: 'finished', counts: { completed: 2 } });
    const [first] = await targets(data.id);
    const job = (await world.caller.call<Body<Record<string, unknown>>>('GET', `/api/routers/${routerIds[1]}/jobs/${first!.job_id}`)).body
      .data;
    expect(job).toMatchObject({ undo_unless_reachable_seconds: 60, timeout_seconds: 30, status: 'completed' });
  });

  it('are created once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'campaign-1' };
    const [first, again] = [await post({}, headers), await post({}, headers)];
    expect(again.body.data.id).toBe(first.body.data.id);
    await ended(first.body.data.id);
  });

  it.each<[string, object, string]>([
    ['no target at all', { router_ids: undefined }, 'router_ids'],
    ['an emptied list of routers', { router_ids: [] }, 'router_ids'],
    ['an emptied list of sites', { router_ids: undefined, site_ids: [] }, 'site_ids'],
    ['an unknown router', { router_ids: ['01890000-0000-7000-8000-000000000000'] }, 'router_ids'],
    ['an unknown site', { site_ids: ['01890000-0000-7000-8000-000000000000'] }, 'site_ids'],
    ['something that is no id', { router_ids: ['all'] }, 'router_ids'],
    ['an empty script', { script: ' ' }, 'script'],
    ['a script that is too long', { script: 'x'.repeat(2001) }, 'script'],
    ['a missing flag', { make_backup: undefined }, 'make_backup'],
    ['a guard without time', { undo_unless_reachable_seconds: 29 }, 'undo_unless_reachable_seconds'],
    ['a rate of nothing', { rate_per_minute: 0 }, 'rate_per_minute'],
    ['none at once', { most_at_once: 0 }, 'most_at_once'],
    ['more canaries than routers', { canary_count: 4 }, 'canary_count'],
    ['a share above all', { abort_at_percent: 101 }, 'abort_at_percent'],
    ['a URL that is none', { notify_url: 'x' }, 'notify_url'],
    ['a URL into a private network', { notify_url: 'https://[fd00::1]/' }, 'notify_url'],
  ])('are refused with %s, and the error names the field', async (_name, some, field) => {
    const answer = await post(some);
    expect(answer.status).toBe(422);
    const fields = Object.keys(answer.body.errors).map((name) => name.split('.')[0]);
    expect(fields).toEqual([field]);
  });
});
