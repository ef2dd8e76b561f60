import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../client/cli/run.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { Listener } from '../harness/event-listener.ts';
import { inventedFacts } from '../harness/invented-facts.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** A broken router is replaced: its record goes on with the new hardware. */

const JOB = { description: 'x', script: ':put 1', make_backup: false, express_execute: false, needs_acknowledgement: true };
const FORWARD = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };

type Answer = { detail: string; errors: object; data: { jobs_canceled: number; forwards_closed: number } };
type Rows = {
  data: {
    id: string;
    status: string;
    phase: string;
    reason: string | null;
    serial_number: string;
    has_pulse: boolean;
    site_id: string | null;
  }[];
};

describe.each(databaseKinds())('on $name', ({ create }) => {
  let database: TestDatabase;
  let world: World;
  let agent: TestAgent;
  let site: string;
  /** The router that broke, and the new hardware as it is listed at first: behind the same entry of the agent. */
  let old: string;
  let fresh: string;

  const ask = <T = Answer>(method: string, path: string, body?: unknown) => world.caller.call<T>(method, path, body);
  const list = async () => (await ask<Rows>('GET', '/api/routers')).body.data;
  const replace = (body: object = {}) => ask('POST', `/api/routers/${old}/replace`, { replaced_by: fresh, ...body });
  const submit = async (id: string) => (await ask<{ data: { job_id: string } }>('POST', `/api/asynchronous/${id}`, JOB)).body.data.job_id;
  const jobs = async (id: string) => (await ask<Rows>('GET', `/api/routers/${id}/jobs`)).body.data;
  const sendHeartbeat = (...names: string[]) =>
    agent.link.sendHeartbeat(names.map((name) => ({ name, reachable: true, uptime_seconds: 60, reason: null })));
  const sees = (...macs: string[]) =>
    agent.send({
      type: 'devices',
      router: 'gw',
      kind: 'full',
      first: true,
      last: true,
      devices: macs.map((mac) => ({ mac, ip: '192.168.88.2', interface: 'bridge' })),
      gone: [],
    });
  const devices = async () => (await ask<{ data: { mac_address: string; site_id: string | null }[] }>('GET', '/arp/devices')).body.data;
  async function report(hardware: string): Promise<string> {
    const levels = hardware === 'NEW' ? (['read'] as const) : [];
    agent.send({ type: 'inventory', router: 'gw', facts: { ...inventedFacts(hardware), terminal_levels: [...levels] } });
    return waitUntil(`${hardware} is listed`, async () => (await list()).find(({ serial_number: serial }) => serial === hardware)?.id);
  }

  beforeEach(async () => {
    database = await create();
    world = await World.start({ databaseUrl: database.url, routers: [] });
    const { credentials: auth } = world.server.services;
    const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'depot');
    agent = new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port));
    agent.heartbeats = [];
    agent.jobs = { onOffer: async (offer) => void agent.send({ type: 'job.declined', job_id: offer.job_id, reason: 'busy' }) };
    agent.start();
    await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
    site = (await ask<{ data: { id: string } }>('POST', '/api/sites', { name: 'Depot' })).body.data.id;
    old = await report('OLD');
    await ask('PATCH', `/api/routers/${old}`, { site_id: site });
    sees('DE:6E:70:C0:CC:B2', '4C:5E:0C:AA:BB:01');
    await waitUntil('the devices are known', async () => (await devices()).length === 2);
    fresh = await report('NEW');
    sees('4C:5E:0C:AA:BB:01', '4C:5E:0C:AA:BB:02');
    await waitUntil('the devices are known', async () => (await devices()).length === 4);
  });
  afterEach(async () => {
    await agent.stop();
    await world.close();
    await database.remove();
  });

  test('the record keeps id, site and history, and gets the new hardware with its devices', async () => {
    const listener = await Listener.start(world, world.caller, { types: ['router.replaced'] });
    const [before, own] = [await submit(old), await submit(fresh)];
    const { port } = (await ask<{ port: number }>('POST', `/api/routers/${old}/transient-forwarding`, FORWARD)).body;
    expect(port).toBeGreaterThan(0);
    sendHeartbeat('gw');
    await waitUntil('the new one answers', async () => (await list()).find(({ id }) => id === fresh)?.has_pulse);
    expect((await replace()).body.data).toEqual({
      id: old,
      serial_number: 'NEW',
      former_serial_number: 'OLD',
      merged_router_id: fresh,
      jobs_canceled: 1,
      jobs_unknown: 0,
      forwards_closed: 1,
    });
    await onceTold(async () =>
      expect(await list()).toMatchObject([{ id: old, serial_number: 'NEW', site_id: site, has_pulse: true, terminal_levels: ['read'] }]),
    );
    expect((await jobs(old)).map(({ id, phase, reason }) => [id, phase, reason])).toEqual([
      [own, 'queued', null],
      [before, 'canceled', 'router_replaced'],
    ]);
    expect((await ask('GET', `/api/routers/${fresh}`)).status).toBe(404);
    expect((await ask<Rows>('GET', '/api/routers?removed=true')).body.data).toEqual([]);
    expect((await devices()).map(({ mac_address: mac, site_id: where }) => `${mac} ${where}`).sort()).toEqual([
      `4C:5E:0C:AA:BB:01 ${site}`,
      `4C:5E:0C:AA:BB:02 ${site}`,
      `DE:6E:70:C0:CC:B2 ${site}`,
    ]);
    await onceTold(async () => {
      const audit = await ask<{ data: { detail: string | null }[] }>('GET', '/api/audit');
      expect(audit.body.data).toContainEqual(expect.objectContaining({ detail: `hardware OLD replaced by NEW (router ${fresh})` }));
    });
    await listener.hears('router.replaced');
    await listener.stop();
    expect(listener.types).toEqual(['router.replaced']);
    // What the agent says now is said of this router, also after a restart.
    expect(await report('NEW')).toBe(old);
    await world.restartServer();
    expect((await list()).map(({ id }) => id)).toEqual([old]);
    // The repaired old hardware is a new router.
    await waitUntil('it is connected again', () => agent.log.filter((line) => line.startsWith('ready')).length === 2);
    expect([old, fresh]).not.toContain(await report('OLD'));
  });

  test('jobs for the old hardware run on the new one only on request', async () => {
    const waiting = await submit(old);
    expect((await replace({ keep_jobs: true })).body.data).toMatchObject({ jobs_canceled: 0 });
    expect(await jobs(old)).toMatchObject([{ id: waiting, phase: 'queued' }]);
    sendHeartbeat('gw');
    await waitUntil('it is offered', () => agent.log.some((line) => line === `onOffer ${waiting.slice(0, 4)}`));
  });

  test('is refused while the old one answers, with itself, with an unknown router, and during a pending campaign', async () => {
    for (const [body, reason] of [
      [{ replaced_by: old }, 'is this router itself'],
      [{ replaced_by: '01890000-0000-7000-8000-000000000000' }, 'is not a router of this team'],
    ] as const) {
      expect(await replace(body)).toMatchObject({ status: 422, body: { errors: { replaced_by: [reason] } } });
    }
    expect(await report('OLD')).toBe(old);
    sendHeartbeat('gw');
    await waitUntil('the old one answers', async () => (await list()).find(({ id }) => id === old)?.has_pulse);
    expect(await replace()).toMatchObject({ status: 409, body: { detail: 'the old router still answers: disconnect it first' } });
    await report('NEW');
    await waitUntil('it answers no more where its agent is', async () => {
      const { body: listed } = await world.callerAt(world.server).call<Rows>('GET', '/api/routers');
      return !listed.data.find(({ id }) => id === old)?.has_pulse;
    });
    const { body } = await ask<{ data: { id: string } }>('POST', '/api/campaigns', { ...JOB, router_ids: [fresh, old], canary_count: 1 });
    await waitUntil('its canary waits', async () => (await jobs(fresh)).length === 1);
    expect(await replace()).toMatchObject({ status: 409, body: { detail: expect.stringContaining(`campaign ${body.data.id}`) as string } });
    const other = await world.addTeam('Other');
    expect((await other.call('POST', `/api/routers/${old}/replace`, { replaced_by: fresh })).status).toBe(404);
  });

  test('works from the command line', async () => {
    const type = async (...words: string[]) => {
      let stdout = '';
      const rest = {
        stderr: () => undefined,
        readInput: async () => '',
        env: { HOME: world.folder },
        signal: new AbortController().signal,
        columns: 100,
      };
      const code = await runCli(['--server', world.server.url, '--key', world.caller.apiKey, ...words], {
        ...rest,
        stdout: (text) => void (stdout += text),
      });
      return { code, stdout };
    };
    await submit(old);
    expect(await type('router', 'replace', 'OLD', '--by', 'NEW')).toEqual({
      code: 0,
      stdout: `replaced OLD by NEW in ${old}: 1 jobs canceled\n`,
    });
    sendHeartbeat('gw');
    await waitUntil('its agent names it', async () => (await list())[0]?.has_pulse);
    expect((await type('router', 'remove', 'NEW')).code).toBe(1);
    const { agentId } = agent.identity;
    expect(await type('agent', 'revoke', agentId)).toEqual({ code: 0, stdout: `revoked ${agentId}\n` });
    expect(await type('router', 'remove', 'NEW', '--purge')).toEqual({
      code: 0,
      stdout: `removed ${old}: 0 forwards closed, 0 jobs canceled\n`,
    });
    expect(await list()).toEqual([]);
  });

  test('an entry that still stands for the old hardware says nothing of the new one', async () => {
    agent.send({ type: 'inventory', router: 'spare', facts: inventedFacts('SPARE') });
    const spare = await waitUntil('the spare is listed', async () => (await list()).find((one) => one.serial_number === 'SPARE')?.id);
    expect(await report('OLD')).toBe(old);
    expect((await ask('POST', `/api/routers/${old}/replace`, { replaced_by: spare })).status).toBe(200);
    const beat = (isReachable: boolean): void =>
      agent.link.sendHeartbeat([
        { name: 'spare', reachable: true, uptime_seconds: 60, reason: null },
        { name: 'gw', reachable: isReachable, uptime_seconds: 5, reason: null },
      ]);
    await waitUntil('the new one answers', async () => {
      beat(false);
      return (await list()).find(({ id }) => id === old)?.has_pulse;
    });
    const { routers } = world.server.services;
    expect(routers.routerIdOf(agent.identity.agentId, 'gw')).toBeUndefined();
    expect(routers.routerIdOf(agent.identity.agentId, 'spare')).toBe(old);
    expect(routers.presence.get(old)).toMatchObject({ reachable: true, uptimeSeconds: 60 });
  });

  test('a concurrent inventory neither reverts it nor creates another router', async () => {
    const stop = new AbortController();
    const talking = (async () => {
      while (!stop.signal.aborted) {
        agent.send({ type: 'inventory', router: 'gw', facts: inventedFacts('NEW') });
        sendHeartbeat('gw');
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    expect((await replace()).status).toBe(200);
    stop.abort();
    await talking;
    await waitUntil('it answers', async () => (await list())[0]?.has_pulse);
    expect(await list()).toMatchObject([{ id: old, serial_number: 'NEW' }]);
  });
});
