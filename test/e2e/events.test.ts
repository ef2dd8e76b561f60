import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Listener } from '../harness/event-listener.ts';
import { addUser } from '../harness/identity/sign-in.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

let world: World;
let router: string;
let other: Caller;
beforeAll(async () => {
  world = await World.start();
  [router] = (await world.routerIds()) as [string];
  other = await world.addTeam('Other');
});
afterAll(async () => world.close());

const submit = (script: string) =>
  world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${router}`, {
    description: 'test',
    script,
    make_backup: false,
    express_execute: true,
    needs_acknowledgement: true,
  });

test('a job emits events from start to end', async () => {
  const listener = await Listener.start(world, world.caller);
  const { body } = await submit(':put "hello"');
  const end = await listener.hears('job.completed');
  expect(end.data).toMatchObject({ job_id: body.data.job_id, router_id: router, status: 'completed', at: expect.stringMatching(/Z$/) });
  expect(listener.types.filter((type, index, all) => type !== all[index - 1])).toEqual(['job.pending', 'job.running', 'job.completed']);
  await listener.stop();
});

test('a campaign emits events when it starts, is paused, resumed, canceled, aborted and completed', async () => {
  const listener = await Listener.start(world, world.caller, {
    types: ['campaign.started', 'campaign.paused', 'campaign.resumed', 'campaign.canceled', 'campaign.aborted', 'campaign.completed'],
  });
  const campaign = { router_ids: [router], description: 'test', make_backup: false, express_execute: true, needs_acknowledgement: true };
  const begin = async (script: string) =>
    (await world.caller.call<{ data: { id: string } }>('POST', '/api/campaigns', { ...campaign, script })).body.data.id;
  const heard = (count: number) => waitUntil(`${count} events are heard`, () => listener.heard.length === count);
  const good = await begin(':put 1');
  await heard(2);
  const bad = await begin(':error no');
  await heard(4);
  const long = await begin(':delay 2');
  for (const turn of ['pause', 'resume', 'cancel']) await world.caller.call('POST', `/api/campaigns/${long}/${turn}`);
  await heard(8);
  expect(listener.heard.map(({ type, data }) => [type, data['campaign_id'], data['state'], data['stop_reason']])).toEqual([
    ['campaign.started', good, 'running', null],
    ['campaign.completed', good, 'finished', null],
    ['campaign.started', bad, 'running', null],
    ['campaign.aborted', bad, 'stopped', 'canary_failed'],
    ['campaign.started', long, 'running', null],
    ['campaign.paused', long, 'paused', null],
    ['campaign.resumed', long, 'running', null],
    ['campaign.canceled', long, 'canceled', null],
  ]);
  await listener.stop();
});

test('another team receives no events, and a filter limits the types', async () => {
  const stranger = await Listener.start(world, other);
  const choosy = await Listener.start(world, world.caller, { types: ['job.completed'] });
  await submit(':put "hello"');
  await choosy.hears('job.completed');
  expect(choosy.types).toEqual(['job.completed']);
  expect(stranger.heard).toEqual([]);
  await Promise.all([stranger.stop(), choosy.stop()]);
});

test('a forward emits events when it is created, opened and closed', async () => {
  const listener = await Listener.start(world, world.caller);
  const target = net.createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await waitUntil('the target listens', () => target.listening);
  const { port } = target.address() as net.AddressInfo;
  const path = `/api/routers/${router}/transient-forwarding`;
  const { body } = await world.caller.call('POST', path, {
    expire_after_minutes: 10,
    dst_port: port,
    dst_address: '127.0.0.1',
    allow_from: '127.0.0.1',
  });
  expect((await listener.hears('forward.authorized')).data).toMatchObject({ forward_id: body['id'], port: body['port'] });
  await world.caller.call('DELETE', `${path}/${String(body['id'])}`);
  expect((await listener.hears('forward.closed')).data).toMatchObject({ forward_id: body['id'], revoked_early: true });
  // A campaign of an earlier test may still report its last job.
  const ofForward = listener.types.filter((type) => type.startsWith('forward.'));
  expect(ofForward).toEqual(['forward.created', 'forward.authorized', 'forward.closed']);
  target.close();
  await listener.stop();
});

test('a router that goes offline and returns emits events, and so does its fault', async () => {
  const listener = await Listener.start(world, world.caller);
  world.simulators[0]!.faults.refuseConnections = true;
  world.simulators[0]!.faults.resetConnections();
  expect((await listener.hears('router.offline')).data).toMatchObject({ router_id: router, identity: 'router-0' });
  await listener.hears('fault.opened');
  world.simulators[0]!.faults.refuseConnections = false;
  await waitUntil('the router is back', () => listener.types.includes('router.online'));
  await waitUntil('the fault is over', () => listener.types.includes('fault.resolved'));
  await listener.stop();
});

test('agents, sites, members and notifications emit events when somebody changes them, to their team alone', async () => {
  const stranger = await Listener.start(world, other);
  const listener = await Listener.start(world, world.caller);
  const call = async (method: string, path: string, content?: object): Promise<string> => {
    const { status, body } = await world.caller.call<{ data?: { id: string }; id?: string } | undefined>(method, path, content);
    expect(status, `${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    return body?.data?.id ?? body?.id ?? '';
  };
  const agents = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
  const [agent] = agents.body.data.map(({ id }) => id) as [string];
  await call('PATCH', `/api/agents/${agent}`, { name: 'riga-dc-1' });
  expect((await listener.hears('agent.updated')).data).toMatchObject({ agent_id: agent, name: 'riga-dc-1', at: expect.any(String) });

  const site = await call('POST', '/api/sites', { name: 'Riga' });
  expect((await listener.hears('site.created')).data).toMatchObject({ site_id: site, name: 'Riga' });
  await call('PATCH', `/api/sites/${site}`, { name: 'Riga port' });
  expect((await listener.hears('site.updated')).data).toMatchObject({ site_id: site, name: 'Riga port' });
  await call('DELETE', `/api/sites/${site}`);
  expect((await listener.hears('site.removed')).data).toMatchObject({ site_id: site });

  const person = await addUser(world, 'grace@example.org', 'viewer');
  expect((await listener.hears('member.joined')).data).toMatchObject({ user_id: person, role: 'viewer', active: true });
  await call('PATCH', `/api/members/${person}`, { role: 'operator' });
  expect((await listener.hears('member.updated')).data).toMatchObject({ user_id: person, role: 'operator', active: true });

  const topic = await call('POST', '/api/topics', { name: 'Jobs', events: ['job.completed'] });
  const group = await call('POST', '/api/groups', { name: 'On call', topics: [topic], recipients: [person] });
  await submit(':put 1');
  await listener.hears('notification.changed');
  await waitUntil('the thread is listed after its event', async () => {
    const { body } = await world.caller.call<{ data: { group_id: string }[] }>('GET', '/api/threads');
    return body.data.some(({ group_id: id }) => id === group);
  });
  await call('DELETE', `/api/groups/${group}`);
  await call('DELETE', `/api/members/${person}`);
  expect((await listener.hears('member.removed')).data).toMatchObject({ user_id: person });
  expect(stranger.heard).toEqual([]);
  await Promise.all([stranger.stop(), listener.stop()]);
});

test('what people set up for notifications emits events without addresses, to its team alone', async () => {
  const stranger = await Listener.start(world, other);
  const listener = await Listener.start(world, world.caller);
  const call = async (method: string, path: string, content?: object): Promise<string> => {
    const { status, body } = await world.caller.call<{ data?: { id: string }; id?: string } | undefined>(method, path, content);
    expect(status, `${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    return body?.data?.id ?? body?.id ?? '';
  };
  const webhook = { name: 'Alarms', channel: 'webhook', address: { url: 'https://hooks.example.org/secret' } };
  const records = [
    { record: 'group', path: '/api/groups', content: { name: 'On call' } },
    { record: 'topic', path: '/api/topics', content: { name: 'Outages', events: ['fault.router_offline'] } },
    {
      record: 'schedule',
      path: '/api/schedules',
      content: { name: 'Nights', time_zone: 'Europe/Riga', windows: [{ day: 'monday', from: 0, to: 480 }] },
    },
    { record: 'target', path: '/api/notification-targets', content: webhook },
  ];
  for (const { record, path, content } of records) {
    const id = await call('POST', path, content);
    const told = (name?: string) => ({ at: expect.any(String), [`${record}_id`]: id, ...(name === undefined ? {} : { name }) });
    expect((await listener.hears(`${record}.created`)).data).toEqual(told(content.name));
    const change = { name: `${content.name} 2` };
    await (record === 'group' ? call('PUT', `/${id}`, change) : call('PATCH', `${path}/${id}`, change));
    expect((await listener.hears(`${record}.updated`)).data).toEqual(told(`${content.name} 2`));
    await call('DELETE', `${path}/${id}`);
    expect((await listener.hears(`${record}.removed`)).data).toEqual(told());
  }
  const silence = await call('POST', '/api/silences', { reason: 'new rack', until: new Date(Date.now() + 3_600_000).toISOString() });
  expect((await listener.hears('silence.created')).data).toMatchObject({ silence_id: silence });
  await call('DELETE', `/api/silences/${silence}`);
  expect((await listener.hears('silence.removed')).data).toMatchObject({ silence_id: silence });
  expect(stranger.heard).toEqual([]);
  await Promise.all([stranger.stop(), listener.stop()]);
});

test('a reconnecting listener receives the missed events', async () => {
  const first = await Listener.start(world, world.caller);
  await submit(':put 1');
  await first.hears('job.completed');
  await first.stop();
  const { body } = await submit(':put 2');
  await waitUntil('the second job is over', async () => {
    const answer = await world.caller.call<{ data: { status: string } }>('GET', `/api/routers/${router}/jobs/${body.data.job_id}`);
    return answer.body.data.status === 'completed';
  });
  const again = await Listener.start(world, world.caller, { lastEventId: first.heard.at(-1)!.id });
  await again.hears('job.completed');
  expect(new Set(again.heard.map(({ data }) => data['job_id']))).toEqual(new Set([body.data.job_id]));
  await again.stop();
});

test('after a restart, missed events come first and ids keep rising', async () => {
  const first = await Listener.start(world, world.caller);
  await submit(':put 1');
  const seen = await first.hears('job.running');
  await first.hears('job.completed');
  await first.stop();
  await world.restartServer();
  await world.routerIds();
  const again = await Listener.start(world, world.caller, { lastEventId: seen.id });
  await again.hears('job.completed');
  await submit(':put 2');
  await waitUntil('the second job is heard of', () => again.types.filter((type) => type === 'job.completed').length === 2);
  expect(again.types).not.toContain('resync');
  const numbers = again.heard.map(({ id }) => Number(id.split('.')[1]));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  await again.stop();
});

test('a router that goes offline while the server is down emits its event afterwards', async () => {
  const first = await Listener.start(world, world.caller);
  await submit(':put 1');
  const seen = await first.hears('job.completed');
  await first.stop();
  await world.agent!.close();
  await world.restartServer();
  const again = await Listener.start(world, world.caller, { lastEventId: seen.id });
  expect((await again.hears('router.offline')).data).toMatchObject({ router_id: router });
  await again.stop();
  await world.startAgent();
  await world.routerIds();
});

describe('the stream itself', () => {
  const open = (headers: Record<string, string> = {}, query = '') =>
    fetch(`${world.server.url}/api/events${query}`, { headers: { authorization: `Bearer ${world.caller.apiKey}`, ...headers } });

  test('is an event stream that caches must not store', async () => {
    const answer = await open();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    await answer.body!.cancel();
  });

  test('sends resync when missed events are not known', async () => {
    const answer = await open({ 'last-event-id': 'another-life.7' });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: resync')) text += (await reader.read()).value ?? '';
    await reader.cancel();
  });

  test('is refused without a credential, for unknown types, and beyond the limit', async () => {
    expect((await open({ authorization: 'Bearer nobody' })).status).toBe(401);
    expect((await open({}, '?types=job.exploded')).status).toBe(422);
    const fifth = await waitUntil('old streams are gone', async () => {
      const streams = await Promise.all(Array.from({ length: 6 }, () => open()));
      const statuses = streams.map(({ status }) => status);
      await Promise.all(streams.map(({ body }) => body!.cancel()));
      return statuses.filter((status) => status === 200).length === 5 ? statuses : undefined;
    });
    expect(fifth).toContain(409);
  });

  test('is not opened by a HEAD request', async () => {
    expect(
      (await fetch(`${world.server.url}/api/events`, { method: 'HEAD', headers: { authorization: `Bearer ${world.caller.apiKey}` } }))
        .status,
    ).toBe(405);
  });
});

test('a listener survives a restart of the server, and the shutdown does not wait for it', async () => {
  const listener = await waitUntil('there is room for one more', () => Listener.start(world, world.caller).catch(() => undefined));
  const stopwatch = new Stopwatch();
  await world.restartServer();
  expect(stopwatch.ms).toBeLessThan(5000);
  await submit(':put "after"');
  await listener.hears('job.pending');
  expect(listener.types).not.toContain('resync');
  await listener.stop();
});
