import net from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { onceTold } from '../harness/cluster/once-told.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { Listener } from '../harness/event-listener.ts';
import { inventedFacts } from '../harness/invented-facts.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Routers leave the team: what ends with them, what stays, and when they may not. */

const JOB = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
const FORWARD = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };

interface Removal {
  detail: string;
  data: { removed_at: string; purged: boolean; jobs_canceled: number; jobs_unknown: number; forwards_closed: number };
}
type Rows = { data: { id: string; status: string; phase: string; reason: string | null }[] };

function opens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe.each(databaseKinds())('on $name', ({ create }) => {
  let database: TestDatabase;
  let world: World;
  const agents: TestAgent[] = [];
  beforeEach(async () => {
    database = await create();
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.stop();
    await world.close();
    await database.remove();
  });

  const ask = <T = Removal>(method: string, path: string, body?: unknown) => world.caller.call<T>(method, path, body);
  const remove = (id: string, query = '') => ask('DELETE', `/api/routers/${id}${query}`);
  const list = async (query = '') => (await ask<Rows>('GET', `/api/routers${query}`)).body.data.map(({ id }) => id);

  async function startAgent(name: string, ...routers: string[]): Promise<TestAgent & { id: string }> {
    const { credentials: auth } = world.server.services;
    const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const { agent_id: agentId, secret } = await auth.enrolAgent(token, name);
    const agent = Object.assign(new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port)), { id: agentId });
    agents.push(agent);
    agent.heartbeats = routers.map((router) => ({ name: router, reachable: true, uptime_seconds: 1, reason: null }));
    agent.start();
    await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
    return agent;
  }
  async function report(agent: TestAgent, router: string, hardware: string): Promise<string> {
    agent.send({ type: 'inventory', router, facts: inventedFacts(hardware) });
    return waitUntil(`${hardware} is listed`, async () => {
      const { body } = await ask<{ data: { id: string; serial_number: string }[] }>('GET', '/api/routers');
      return body.data.find(({ serial_number: serial }) => serial === hardware)?.id;
    });
  }

  test('a router that left the configuration can be removed; its history stays until purged, and it may return as a new one', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [{}, {}] });
    const [stays, goes] = (await world.routerIds()) as [string, string];
    const { job_id: done } = (await ask<{ data: { job_id: string } }>('POST', `/api/asynchronous/${goes}`, { ...JOB, make_backup: true }))
      .body.data;
    const backupId = await waitUntil(
      'its backup is stored',
      async () =>
        (await ask<{ data: { backup: string | null } }>('GET', `/api/routers/${goes}/jobs/${done}`)).body.data.backup ?? undefined,
    );
    const { port, id: forwardId } = (await ask<{ port: number; id: string }>('POST', `/api/routers/${goes}/transient-forwarding`, FORWARD))
      .body;
    expect(await opens(port)).toBe(true);
    expect(await remove(goes)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('its agent still has it') as string },
    });
    await world.agent!.close();
    await waitUntil('the agent is away', async () => (await remove(goes)).body.detail.includes('is offline'));
    const { job_id: queued } = (await ask<{ data: { job_id: string } }>('POST', `/api/asynchronous/${goes}`, JOB)).body.data;
    const simulator = world.simulators.pop()!;
    await world.startAgent();
    const listener = await Listener.start(world, world.caller, { types: ['router.removed', 'forward.closed'] });
    const removed = await waitUntil('it is removed', async () => {
      const answer = await remove(goes);
      return answer.status === 200 && answer.body.data;
    });
    expect(removed).toMatchObject({ purged: false, jobs_canceled: 1, jobs_unknown: 0, forwards_closed: 1 });
    expect(await opens(port)).toBe(false);

    expect(await list()).toEqual([stays]);
    expect(await list('?removed=true')).toEqual([goes]);
    expect((await ask('GET', `/api/routers/${goes}`)).body.data).toMatchObject({ removed_at: removed.removed_at });
    expect((await ask<Rows>('GET', `/api/routers/${goes}/jobs`)).body.data).toMatchObject([
      { id: queued, status: 'deleted', phase: 'canceled', reason: 'router_removed' },
      { id: done, status: 'completed' },
    ]);
    expect((await ask('GET', `/api/routers/${goes}/backups/${backupId}?part=export`)).status).toBe(200);
    expect((await ask('GET', `/api/routers/${goes}/transient-forwarding/${forwardId}`)).body).toMatchObject({ revoked_early: true });
    expect((await ask<Rows>('GET', '/api/faults?status=open')).body.data).toEqual([]);
    await onceTold(async () => {
      const audit = await ask<{ data: { action: string; detail: string | null }[] }>('GET', '/api/audit');
      expect(audit.body.data).toContainEqual(
        expect.objectContaining({ action: 'DELETE /api/routers/:router_id', detail: 'router-1, hardware SERIAL1' }),
      );
    });
    for (const type of ['router.removed', 'forward.closed']) await listener.hears(type);
    await listener.stop();
    expect(listener.types.toSorted()).toEqual(['forward.closed', 'router.removed']);

    for (const [method, path, body] of [
      ['POST', `/api/asynchronous/${goes}`, JOB],
      ['POST', `/api/synchronous/${goes}`, { command: '/system/identity/print', parameters: '' }],
      ['POST', `/api/routers/${goes}/transient-forwarding`, FORWARD],
      ['PATCH', `/api/routers/${goes}`, { site_id: null }],
      ['GET', '/api/routers/router-1', undefined],
    ] as const) {
      expect((await ask(method, path, body)).status, path).toBe(404);
    }
    expect((await ask('POST', '/api/campaigns', { ...JOB, router_ids: [goes] })).status).toBe(422);
    expect((await remove(goes)).body.data).toMatchObject({ removed_at: removed.removed_at, jobs_canceled: 0, forwards_closed: 0 });

    await world.restartServer();
    expect(await opens(port)).toBe(false);
    expect(await list()).toEqual([stays]);
    await world.agent!.close();
    world.simulators.push(simulator);
    await world.startAgent();
    const [, anew] = (await world.routerIds()) as [string, string];
    expect(anew).not.toBe(goes);

    expect((await remove(goes, '?purge=true')).body.data).toMatchObject({ purged: true });
    expect((await ask('GET', `/api/routers/${goes}`)).status).toBe(404);
    expect((await ask('GET', `/api/routers/${goes}/jobs/${done}`)).status).toBe(404);
    expect((await ask('GET', `/api/routers/${goes}/backups/${backupId}?part=export`)).status).toBe(404);
    expect(await list()).toEqual([anew, stays]);
  });

  test('a running job prevents the removal, unless its agent is revoked; the job is then unknown', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const agent = await startAgent('depot', 'one');
    agent.jobs = {
      onOffer: async (offer) => void agent.send({ type: 'job.accepted', job_id: offer.job_id }),
      onGo: async (jobId) => void agent.send({ type: 'job.began', job_id: jobId }),
    };
    const id = await report(agent, 'one', 'OLD');
    const { job_id: jobId } = (await ask<{ data: { job_id: string } }>('POST', `/api/asynchronous/${id}`, JOB)).body.data;
    const job = async () => (await ask<{ data: object & { phase: string } }>('GET', `/api/routers/${id}/jobs/${jobId}`)).body.data;
    await waitUntil('it runs', async () => (await job()).phase === 'running');
    await report(agent, 'one', 'NEW');
    expect(await remove(id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`job ${jobId} is under way`) as string },
    });
    expect(await list()).toContain(id);
    await ask('DELETE', `/api/agents/${agent.id}`);
    expect((await remove(id)).body.data).toMatchObject({ jobs_unknown: 1, jobs_canceled: 0 });
    expect(await job()).toMatchObject({ status: 'unknown', phase: 'unknown', reason: 'agent_revoked' });
  });

  test('the agent that carries a forward must close it', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const agent = await startAgent('depot', 'one');
    const closed: string[] = [];
    agent.requests['forward.open'] = async () => ({ way: 'direct', way_reason: 'x', target_reachable: null });
    agent.requests['forward.close'] = async ({ forward_id: forwardId }) => {
      closed.push(forwardId);
      return {};
    };
    const id = await report(agent, 'one', 'OLD');
    const { id: forwardId } = (await ask<{ id: string }>('POST', `/api/routers/${id}/transient-forwarding`, FORWARD)).body;
    await report(agent, 'one', 'NEW');
    expect((await remove(id)).body.data).toMatchObject({ forwards_closed: 1 });
    await waitUntil('the agent is told', () => closed.includes(forwardId));
  });

  test('another agent that reports the router prevents the removal', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const [owner, other] = [await startAgent('owner', 'one'), await startAgent('other', 'two')];
    const id = await report(owner, 'one', 'SHARED');
    other.send({ type: 'inventory', router: 'two', facts: inventedFacts('SHARED') });
    const moves = async () => (await ask<Rows>('GET', '/api/router-moves')).body.data;
    const [move] = await waitUntil('the claim waits', async () => {
      const found = await moves();
      return found.length > 0 && found;
    });
    await ask('POST', `/api/router-moves/${move!.id}/refuse`);
    await ask('DELETE', `/api/agents/${owner.id}`);
    expect(await remove(id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`agent ${other.id} also reports this router`) as string },
    });
    await ask('DELETE', `/api/agents/${other.id}`);
    expect((await remove(id)).status).toBe(200);
    expect(await moves()).toEqual([]);
  });

  test('devices that only this router has seen are deleted', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const { body: site } = await ask<{ data: { id: string } }>('POST', '/api/sites', { name: 'Depot' });
    const [first, second] = [await startAgent('first', 'one'), await startAgent('second', 'one')];
    const [goes, stays] = [await report(first, 'one', 'GOES'), await report(second, 'one', 'STAYS')];
    for (const id of [goes, stays]) await ask('PATCH', `/api/routers/${id}`, { site_id: site.data.id });
    const [own, shared] = ['DE:6E:70:C0:CC:B2', '4C:5E:0C:AA:BB:01'];
    const sees = (agent: TestAgent, ...macs: string[]) =>
      agent.send({
        type: 'devices',
        router: 'one',
        kind: 'full',
        first: true,
        last: true,
        devices: macs.map((mac) => ({ mac, ip: '192.168.88.2', interface: 'bridge' })),
        gone: [],
      });
    sees(first, own, shared);
    sees(second, shared);
    const macs = async () =>
      (await ask<{ data: { mac_address: string }[] }>('GET', '/arp/devices')).body.data.map(({ mac_address: mac }) => mac).sort();
    await waitUntil('both are known', async () => (await macs()).length === 2);
    await ask('DELETE', `/api/agents/${first.id}`);
    expect((await remove(goes)).status).toBe(200);
    expect(await macs()).toEqual([shared]);
    // Nobody stands there for the removed router any more.
    await ask('PATCH', `/api/routers/${stays}`, { site_id: null });
    expect((await ask('DELETE', `/api/sites/${site.data.id}`)).status).toBe(204);
  });

  test('concurrent requests for the router are refused or end with it', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const agent = await startAgent('depot');
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) ids.push(await report(agent, `router ${index}`, `SERIAL${index}`));
    await ask('DELETE', `/api/agents/${agent.id}`);
    for (const id of ids) {
      const asked = () => [ask('POST', `/api/asynchronous/${id}`, JOB), ask('POST', `/api/routers/${id}/transient-forwarding`, FORWARD)];
      const answers = await Promise.all([...asked(), ...asked(), remove(id), ...asked(), ...asked()]);
      expect(answers[4]!.status).toBe(200);
      for (const { status } of answers) expect([200, 404]).toContain(status);
      const jobs = (await ask<Rows>('GET', `/api/routers/${id}/jobs`)).body.data;
      expect(jobs.filter(({ phase }) => phase !== 'canceled')).toEqual([]);
      const forwards = (await ask<{ data: { revoked_early: boolean; port: number }[] }>('GET', `/api/routers/${id}/transient-forwarding`))
        .body.data;
      for (const { revoked_early: revoked, port } of forwards) expect([revoked, await opens(port)]).toEqual([true, false]);
    }
    expect(await list()).toEqual([]);
  });

  test('an operator may not remove it, and another team gets 404', async () => {
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const agent = await startAgent('depot', 'one');
    const id = await report(agent, 'one', 'OLD');
    await ask('DELETE', `/api/agents/${agent.id}`);
    const other = await world.addTeam('Other');
    expect((await other.call('DELETE', `/api/routers/${id}?purge=true`)).status).toBe(404);
    const { apiKey } = await world.server.services.credentials.createApiKey({
      teamId: world.caller.teamId,
      name: 'op',
      role: 'operator',
      createdBy: null,
    });
    expect((await world.caller.call('DELETE', `/api/routers/${id}`, undefined, { authorization: `Bearer ${apiKey}` })).status).toBe(403);
    expect(await list()).toEqual([id]);
  });
});
