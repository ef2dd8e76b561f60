import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invite } from '../harness/identity/links.ts';
import { addUser } from '../harness/identity/sign-in.ts';
import { PUBLIC_ROUTES } from '../harness/route-table.ts';
import type { RouteRow } from '../harness/route-table.ts';
import type { Caller } from '../harness/world.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * Two teams, every route: nothing of one is visible to or usable by the other, and the answer is the one for a record
 * that does not exist.
 */
let world: World;
let other: Caller;
/** A record of the first team for each parameter of a path. */
let ids: Record<string, string>;

beforeAll(async () => {
  world = await World.start({ terminal: 'read' });
  const [routerId] = (await world.routerIds()) as [string];
  other = await world.addTeam('Other');
  ids = { router_id: routerId, macAddress: '4C:5E:0C:AA:BB:01', ...(await makeRecords(routerId)) };
});
afterAll(async () => world.close());

/** Its first output is stored a moment after it was opened. */
async function recordedTerminal(routerId: string): Promise<string> {
  const id = await make(`/api/routers/${routerId}/terminals`, { level: 'read', reason: 'a look at the log' });
  await waitUntil('its recording has begun', async () => {
    const { status } = await world.caller.call('GET', `/api/terminals/${id}/recording`);
    return status === 200 ? true : undefined;
  });
  return id;
}

async function makeRecords(routerId: string): Promise<Record<string, string>> {
  const forward = PUBLIC_ROUTES.find(({ method, path }) => method === 'POST' && path.endsWith('/transient-forwarding'))!;
  const job = PUBLIC_ROUTES.find(({ path }) => path.startsWith('/api/asynchronous/'))!;
  const topic = await make('/api/topics', { name: 'Outages', events: ['job.*'] });
  const group = await make('/api/groups', { name: 'On call', topics: [topic] });
  await make(`/api/asynchronous/${routerId}`, {
    ...(job.body as object),
    make_backup: true,
    notify_url: `${world.server.url}/nobody-listens`,
  });
  const jobId = await newest(`/api/routers/${routerId}/jobs`);
  const backupId = await waitUntil('its backup is stored', async () => {
    const { body } = await world.caller.call<{ data: { backup: string | null } }>('GET', `/api/routers/${routerId}/jobs/${jobId}`);
    return body.data.backup ?? undefined;
  });
  const siteId = await make('/api/sites', { name: 'Depot' });
  return {
    id: await make(`/api/routers/${routerId}/transient-forwarding`, forward.body),
    job_id: jobId,
    terminal_id: await recordedTerminal(routerId),
    backup_id: backupId,
    other_id: backupId,
    delivery_id: await newest(`/api/routers/${routerId}/jobs/${jobId}/deliveries`),
    campaign_id: await make('/api/campaigns', { ...(job.body as object), router_ids: [routerId] }),
    site_id: siteId,
    backup_schedule_id: await make('/api/backup-schedules', { time: '02:30', site_id: siteId }),
    member_id: await addUser(world, 'ada@example.org', 'viewer'),
    invitation_id: (await invite(world.caller, 'bob@example.org')).id,
    key_id: await make('/api/api-keys', { name: 'billing' }),
    client_id: await make('/api/clients', { name: 'Tickets', kind: 'web', redirect_uris: ['https://tickets.example.net/callback'] }),
    token_id: await make('/api/enrol-tokens', {}),
    agent_id: await newest('/api/agents'),
    move_id: await claimRouter(),
    view_id: await make('/api/views', { list: 'routers', name: 'Away', query: { state: 'agent_away' }, shared: true }),
    group,
    group_id: group,
    topic_id: topic,
    thread_id: await threadOfJob(),
    schedule_id: await make('/api/schedules', { name: 'Office', time_zone: 'UTC', windows: [] }),
    silence_id: await make('/api/silences', { reason: 'Maintenance', until: new Date(Date.now() + 3_600_000).toISOString() }),
    target_id: await make('/api/notification-targets', {
      name: 'Chat',
      channel: 'webhook',
      address: { url: `${world.server.url}/nobody` },
    }),
  };
}

/** The group hears of the job above. */
async function threadOfJob(): Promise<string> {
  return waitUntil('a thread is listed', async () => {
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/threads');
    return body.data[0]?.id;
  });
}

/** Another agent of the team reports the same router. @returns the id of its claim, which waits */
async function claimRouter(): Promise<string> {
  const { credentials: auth } = world.server.services;
  const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'another');
  const agent = new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port)).start();
  try {
    await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
    agent.send({
      type: 'inventory',
      router: 'one',
      facts: {
        hardware_id: 'SERIAL0',
        serial_number: 'SERIAL0',
        software_id: null,
        identity: 'one',
        software_version: '7.18.2',
        model: null,
        board_name: 'hEX',
        hardware_board: true,
        architecture: null,
        time_zone: null,
        uptime: '1d',
        uptime_seconds: 86_400,
      },
    });
    return await waitUntil('its claim is listed', async () => {
      const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/router-moves');
      return body.data[0]?.id;
    });
  } finally {
    await agent.stop();
  }
}

interface Made {
  id: string;
  data?: { id: string };
}

async function make(url: string, body: unknown): Promise<string> {
  const answer = await world.caller.call<Made>('POST', url, body);
  expect(answer.status, url).toBe(200);
  return (answer.body.data ?? answer.body).id;
}

async function newest(url: string): Promise<string> {
  return (await world.caller.call<{ data: { id: string }[] }>('GET', url)).body.data[0]!.id;
}

function fill(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const id = ids[name];
    // Otherwise the path would name no record of either team, and every answer would look right.
    if (id === undefined) throw new Error(`makeRecords makes no ${name} for ${path}`);
    return id;
  });
}

const fillBody = (body: unknown): unknown =>
  body === undefined ? undefined : JSON.parse(JSON.stringify(body).replaceAll(/"\{(\w+)\}"/g, (_all, name: string) => `"${ids[name]!}"`));
const rows = (kind: RouteRow['kind']): [string, string, unknown][] =>
  PUBLIC_ROUTES.filter((route) => route.kind === kind).map(({ method, path, query, body }) => [
    method,
    query === undefined ? path : `${path}?${query}`,
    body,
  ]);

describe('the other team', () => {
  // First: its own audit log shows what it asks for later on.
  test.each(rows('list'))('%s %s shows nothing of the first team', async (method, path) => {
    const { status, body } = await other.call<{ data: unknown[] }>(method, path);
    expect(status).toBe(200);
    const shown = JSON.stringify(body);
    for (const [name, id] of Object.entries(ids)) expect(shown.includes(id), name).toBe(false);
    expect(shown).not.toContain(world.caller.teamId);
  });

  test.each(rows('record'))('%s %s is 404', async (method, path, body) => {
    const { status, body: problem } = await other.call(method, fill(path), fillBody(body));
    expect(status).toBe(404);
    expect(problem).toMatchObject({ code: 'not_found' });
    expect(JSON.stringify(problem)).not.toMatch(/no route/);
  });

  test('cannot refer to records of the first team in its own', async () => {
    const links = {
      recipients: [ids['member_id']],
      topics: [ids['topic_id']],
      sites: [ids['site_id']],
      schedule_id: ids['schedule_id'],
      targets: [ids['target_id']],
    };
    const { status, body } = await other.call<{ errors: object }>('POST', '/api/groups', { name: 'x', ...links });
    expect(status).toBe(422);
    expect(Object.keys(body.errors).sort()).toEqual(['recipients', 'schedule_id', 'sites', 'targets', 'topics']);
    const campaign = {
      ...(PUBLIC_ROUTES.find(({ path }) => path.startsWith('/api/asynchronous/'))!.body as object),
      router_ids: [ids['router_id']],
    };
    expect((await other.call('POST', '/api/campaigns', campaign)).body).toMatchObject({
      status: 422,
      errors: { router_ids: [expect.any(String)] },
    });
    expect((await other.call('POST', '/api/enrol-tokens', { site_id: ids['site_id'] })).status).toBe(422);
  });
});

describe('the owner gets answers on the same routes', () => {
  // No device is behind the simulated router.
  // A router that went over to the other agent, which is gone, would answer nothing more.
  // The caller has a terminal on that router already.
  // Nobody reads the code of the notification target.
  // The thread is of a job that has ended: nothing is to be taken over.
  // The campaign has ended, so that there is nothing to pause any more. No router replaces itself.
  const isHere = ([method, path]: [string, string, unknown]): boolean =>
    method !== 'DELETE' &&
    !path.includes('{macAddress}') &&
    !path.endsWith('/approve') &&
    !(method === 'POST' && path.endsWith('/{router_id}/terminals')) &&
    !/campaign_id\}\/(pause|resume|cancel)$|\/(replace|verify|acknowledge)$/.test(path);

  test.each([...rows('record'), ...rows('create'), ...rows('list')].filter(isHere))('%s %s', async (method, path, body) => {
    expect((await world.caller.call(method, fill(path), fillBody(body))).status).toBe(200);
  });
});

describe('finally the owner deletes the created records', () => {
  // A router stays as long as an agent may have it.
  beforeAll(async () => {
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
    for (const { id } of body.data) expect((await world.caller.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
  });

  test.each(rows('record').filter(([method]) => method === 'DELETE'))('%s %s', async (method, path) => {
    const { status } = await world.caller.call(method, fill(path));
    expect([200, 204]).toContain(status);
  });
});

test('the table and the OpenAPI document have the same routes', async () => {
  const document = (await (await fetch(`${world.server.url}/openapi.json`)).json()) as { paths: Record<string, Record<string, unknown>> };
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(PUBLIC_ROUTES.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(documented.sort());
});
