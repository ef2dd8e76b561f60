import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Administrator, enrolAll } from '../../scripts/fleet/enrol.ts';
import { Fleet } from '../../scripts/fleet/fleet.ts';
import { planFleet } from '../../scripts/fleet/plan.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Light agents against the real control plane: they must be taken for real ones in everything that a demonstration or a measurement does. */

const AGENTS = 4;
const ROUTERS = 10;
const NO_SHARES = { flapping: 0, silent: 0, slow: 0 };

interface Listed {
  id: string;
  identity: string;
  has_pulse: boolean;
  product: string | null;
}

let folder: string;
let world: World;
let fleet: Fleet;

const plan = planFleet({ agents: AGENTS, routers: ROUTERS, seed: 7 });

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-fleet-'));
  world = await World.start({ routers: [] });
  const administrator = new Administrator(world.server.url, world.caller.apiKey);
  const credentials = await enrolAll(plan, { administrator, file: path.join(folder, 'credentials.json'), sites: true });
  fleet = new Fleet({ server: world.server.url, plan, credentials, shares: NO_SHARES, seed: 7, now: Date.now });
  fleet.start(0);
  await waitUntil('all routers answer', async () => (await list()).filter((router) => router.has_pulse).length === ROUTERS);
});
afterAll(async () => {
  fleet?.stop();
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const list = async (): Promise<Listed[]> => (await world.caller.call<{ data: Listed[] }>('GET', '/api/routers')).body.data;

async function idOf(identity: string): Promise<string> {
  return (await list()).find((router) => router.identity === identity)!.id;
}

async function jobOn(id: string, script: string, more: object = {}): Promise<Record<string, unknown>> {
  const { body, status } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${id}`, {
    description: 'a try',
    script,
    make_backup: false,
    express_execute: true,
    needs_acknowledgement: true,
    ...more,
  });
  expect([status, body]).toEqual([200, expect.anything()]);
  return waitUntil('the job has ended', async () => {
    const { data } = (await world.caller.call<{ data: Record<string, unknown> }>('GET', `/api/routers/${id}/jobs/${body.data.job_id}`))
      .body;
    return /^(?:completed|failed|unknown)$/.test(String(data['status'])) && { ...data, job_id: body.data.job_id };
  });
}

test('every planned router is listed once, with the product of the catalogue, at a site with a place', async () => {
  const routers = await list();
  const planned = plan.flatMap((agent) => agent.routers.map(({ identity }) => identity));
  expect(routers.map(({ identity }) => identity).sort()).toEqual(planned.sort());
  const { data } = (await world.caller.call<{ data: { name: string; latitude: number }[] }>('GET', '/api/sites')).body;
  expect(data.map(({ name }) => name).sort()).toEqual(plan.map(({ site }) => site.name).sort());
  for (const { latitude } of data) expect(latitude).toBeGreaterThan(53);
});

test('the credentials are kept for the next run, for nobody else to read', async () => {
  const known = JSON.parse(await readFile(path.join(folder, 'credentials.json'), 'utf8')) as unknown[];
  expect(known).toHaveLength(AGENTS);
  const administrator = new Administrator('http://127.0.0.1:9', 'nobody answers there');
  expect(await enrolAll(plan, { administrator, file: path.join(folder, 'credentials.json'), sites: false })).toEqual(known);
  expect(existsSync(path.join(folder, 'credentials.json'))).toBe(true);
});

test('a router answers commands, and is called by its new name', async () => {
  const [router] = plan[0]!.routers;
  const id = await idOf(router!.identity);
  const ask = async (command: string, parameters = ''): Promise<unknown> =>
    (await world.caller.call('POST', `/api/synchronous/${id}`, { command, parameters })).body;
  expect(await ask('/ip/address/print', '?interface=bridge')).toMatchObject({ data: [{ address: '192.168.88.1/24' }] });
  await ask('/system/identity/set', 'name=renamed');
  await waitUntil('the new name is known', async () => (await list()).some(({ identity }) => identity === 'renamed'));
  await ask('/system/identity/set', `name=${router!.identity}`);
  await waitUntil('the old name is back', async () => (await list()).some(({ identity }) => identity === router!.identity));
  expect((await world.caller.call('POST', `/api/synchronous/${id}`, { command: '/no/such/print', parameters: '' })).status).toBe(422);
});

test('jobs complete, fail, stay unknown and are rolled back', async () => {
  const id = await idOf(plan[1]!.routers[0]!.identity);
  expect(await jobOn(id, ':put [/system/identity get name]')).toMatchObject({
    status: 'completed',
    output: `${plan[1]!.routers[0]!.identity}\n`,
  });
  expect(await jobOn(id, ':error "no uplink"')).toMatchObject({ status: 'failed', reason: 'script_error' });
  const cut = { undo_unless_reachable_seconds: 30 };
  const script = '/interface ethernet disable ether1';
  const started = performance.now();
  expect(await jobOn(id, script, cut)).toMatchObject({ status: 'failed', reason: 'rolled_back' });
  expect(performance.now() - started).toBeGreaterThan(29_000);
  expect(await jobOn(id, '/system reboot')).toMatchObject({ status: 'unknown', reason: 'router_rebooted' });
});

test('backups are stored and differ by what a script has changed', async () => {
  const id = await idOf(plan[2]!.routers[0]!.identity);
  const { job_id: job } = await jobOn(id, '/ip dns set servers=192.0.2.53', { make_backup: true });
  const changes = await waitUntil('the backup is stored', async () => {
    const { status, body } = await world.caller.call('GET', `/api/routers/${id}/jobs/${String(job)}/changes`);
    return status === 200 && JSON.stringify(body);
  });
  expect(changes).toContain('servers=192.0.2.53');
});

test('bytes go through a forward to a virtual device', async () => {
  const id = await idOf(plan[3]!.routers[0]!.identity);
  const forward = { expire_after_minutes: 10, dst_port: 80, dst_address: '192.168.88.20', allow_from: '127.0.0.1/32' };
  const { body } = await world.caller.call<{ port: number }>('POST', `/api/routers/${id}/transient-forwarding`, forward);
  const answer = await fetch(`http://127.0.0.1:${body.port}/`, { headers: { connection: 'close' } });
  expect(await answer.text()).toContain('Virtual device');
});

test('after a storm all agents are back, and each is counted once', async () => {
  const { dials } = fleet.counts;
  fleet.storm();
  await waitUntil('all are ready', () => fleet.counts.dials >= dials + AGENTS && fleet.counts.ready === AGENTS);
});

test('a router that is away is listed with its reason', async () => {
  const [agent] = fleet.agents;
  const [router] = agent!.routers;
  router!.setAway('login_refused');
  agent!.reportChange(router!);
  const id = await idOf(router!.identity);
  await waitUntil('it has no pulse', async () => !(await list()).find((one) => one.id === id)!.has_pulse);
  router!.setAway(null);
  agent!.reportChange(router!);
  await waitUntil('it has one', async () => (await list()).find((one) => one.id === id)!.has_pulse);
});
