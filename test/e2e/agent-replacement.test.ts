import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { onceTold } from '../harness/cluster/once-told.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { createTeam, freePort } from '../harness/installation.ts';
import { inventedFacts } from '../harness/invented-facts.ts';
import { Program } from '../harness/program.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';

/** Agents that are removed, and agents whose place another machine takes. */

const JOB = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
const FORWARD = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };

interface Problem {
  detail: string;
  errors: Record<string, string[]>;
}
type Rows<T = { id: string }> = { data: T[] };
type Token = { data: { id: string; token: string; status: string; replaces_agent_id: string | null; agent_id: string | null } };
interface Job {
  id: string;
  status: string;
  phase: string;
  reason: string | null;
  output: string | null;
}

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
    world = await World.start({ databaseUrl: database.url, routers: [] });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.stop();
    await world.close();
    await database.remove();
  });

  const ask = <T = Problem>(method: string, route: string, body?: unknown) => world.caller.call<T>(method, route, body);
  const auth = () => world.server.services.credentials;
  const list = async (route: string) => (await ask<Rows>('GET', route)).body.data.map(({ id }) => id);
  const jobOf = async (routerId: string, jobId: string) =>
    (await ask<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${jobId}`)).body.data;
  const submit = async (routerId: string) =>
    (await ask<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, JOB)).body.data.job_id;
  const replacement = async (agentId: string) => (await ask<Token>('POST', '/api/enrol-tokens', { replaces_agent_id: agentId })).body.data;
  /** As `signalbox-agent enrol` does it. */
  async function enrol(token: string, name: string): Promise<{ agentId: string; secret: string }> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${world.server.url}/agent/v1/enrol`, { method: 'POST', headers, body: JSON.stringify({ token, name }) });
    const { agent_id: agentId, secret } = (await answer.json()) as { agent_id: string; secret: string };
    return { agentId, secret };
  }
  function connect(identity: { agentId: string; secret: string }, ...routers: string[]): TestAgent {
    const agent = new TestAgent(identity, Number(new URL(world.server.url).port));
    agents.push(agent);
    agent.heartbeats = routers.map((name) => ({ name, reachable: true, uptime_seconds: 1, reason: null }));
    return agent.start();
  }
  const isReady = (agent: TestAgent) => waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
  async function report(agent: TestAgent, router: string, hardware: string): Promise<string> {
    agent.send({ type: 'inventory', router, facts: inventedFacts(hardware) });
    return waitUntil(`${hardware} is listed`, async () => {
      const { body } = await ask<Rows<{ id: string; serial_number: string }>>('GET', '/api/routers');
      return body.data.find(({ serial_number: serial }) => serial === hardware)?.id;
    });
  }
  async function firstAgent(...routers: string[]): Promise<TestAgent> {
    const { token } = await auth().createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const agent = connect(await enrol(token, 'depot'), ...routers);
    await isReady(agent);
    return agent;
  }
  /** It begins every job and ends none. @returns the ids of those that it was offered */
  const takesJobs = (agent: TestAgent): string[] => {
    const offered: string[] = [];
    agent.jobs = {
      onOffer: async ({ job_id: jobId }) => {
        offered.push(jobId);
        agent.send({ type: 'job.accepted', job_id: jobId });
      },
      onGo: async (jobId) => void agent.send({ type: 'job.began', job_id: jobId }),
    };
    return offered;
  };

  test('a new agent takes over id, name, site and routers; pending jobs continue, started ones are unknown', async () => {
    const { body: site } = await ask<{ data: { id: string } }>('POST', '/api/sites', { name: 'Depot' });
    const old = await firstAgent('uno');
    const { agentId } = old.identity;
    await ask('PATCH', `/api/agents/${agentId}`, { site_id: site.data.id });
    takesJobs(old);
    old.requests['forward.open'] = async () => ({ way: 'direct', way_reason: 'x', target_reachable: null });
    const routerId = await report(old, 'uno', 'HEX');
    const begun = await submit(routerId);
    await waitUntil('it runs', async () => (await jobOf(routerId, begun)).phase === 'running');
    const waiting = await submit(routerId);
    const { port, id: forwardId } = (
      await ask<{ port: number; id: string }>('POST', `/api/routers/${routerId}/transient-forwarding`, FORWARD)
    ).body;
    const forward = async () =>
      (await ask<{ way: string | null; way_reason: string | null }>('GET', `/api/routers/${routerId}/transient-forwarding/${forwardId}`))
        .body;
    expect((await forward()).way).toBe('direct');

    const [made, second] = [await replacement(agentId), await replacement(agentId)];
    expect(made).toMatchObject({ status: 'open', replaces_agent_id: agentId, agent_id: null });
    expect(old.log).not.toContain('revoked');
    const identity = await enrol(made.token, 'a new machine');
    expect(identity.agentId).toBe(agentId);
    expect(identity.secret).not.toBe(old.identity.secret);
    await waitUntil('the old one is sent away', () => old.log.includes('revoked'));
    expect(await auth().authenticateAgent(`${agentId}:${old.identity.secret}`)).toBeUndefined();
    expect(await forward()).toMatchObject({ way: null, way_reason: 'the agent was replaced' });
    // Nobody knows yet whether it is still running there.
    expect(await jobOf(routerId, begun)).toMatchObject({ phase: 'running' });

    const fresh = connect(identity, 'one');
    const offered = takesJobs(fresh);
    fresh.requests['forward.open'] = async () => ({ way: 'ssh', way_reason: 'y', target_reachable: null });
    await isReady(fresh);
    expect(
      await waitUntil('it is settled', async () => {
        const job = await jobOf(routerId, begun);
        return job.phase === 'running' ? undefined : job;
      }),
    ).toMatchObject({ status: 'unknown' });
    // The name in the new configuration may be another one: the hardware says which router it is.
    expect(await report(fresh, 'one', 'HEX')).toBe(routerId);
    await waitUntil('the waiting job goes on', async () => (await jobOf(routerId, waiting)).phase === 'running');
    expect(offered).toEqual([waiting]);
    await waitUntil('the forward is open again', async () => (await forward()).way === 'ssh');
    expect(await opens(port)).toBe(true);
    expect((await ask<{ data: object }>('GET', `/api/agents/${agentId}`)).body.data).toMatchObject({
      name: 'depot',
      site_id: site.data.id,
      connected: true,
      revoked_at: null,
    });
    expect(await list('/api/agents')).toEqual([agentId]);
    expect(await list('/api/routers')).toEqual([routerId]);

    // The second token would end the agent that has just taken over.
    const { data: tokens } = (await ask<Rows<{ id: string; status: string; agent_id: string | null }>>('GET', '/api/enrol-tokens')).body;
    expect(tokens.slice(0, 2)).toMatchObject([
      { id: second.id, status: 'revoked', agent_id: null },
      { id: made.id, status: 'used', agent_id: agentId },
    ]);
    const { body: audit } = await ask<Rows<{ action: string; detail: string | null; actor_id: string }>>('GET', '/api/audit');
    expect(audit.data).toContainEqual(
      expect.objectContaining({ action: 'enrol', actor_id: made.id, detail: `agent ${agentId}, replaced` }),
    );
    expect(audit.data).toContainEqual(expect.objectContaining({ action: 'POST /api/enrol-tokens', detail: `to replace agent ${agentId}` }));
  });

  test('with the old state folder, the new agent reports how the started job ended', async () => {
    const old = await firstAgent('one');
    takesJobs(old);
    const routerId = await report(old, 'one', 'HEX');
    const begun = await submit(routerId);
    await waitUntil('it runs', async () => (await jobOf(routerId, begun)).phase === 'running');
    await old.stop();
    const identity = await enrol((await replacement(old.identity.agentId)).token, 'new');
    const fresh = new TestAgent(identity, Number(new URL(world.server.url).port));
    agents.push(fresh);
    const result = { outcome: 'completed', reason: null, error: null, output: 'done\n', output_truncated: false };
    Object.assign(fresh, {
      journalId: old.journalId,
      lastEpoch: old.lastEpoch,
      heartbeats: old.heartbeats,
      openJobs: [{ job_id: begun, state: 'ended', result }],
    });
    fresh.start();
    await waitUntil('it is settled', async () => (await jobOf(routerId, begun)).phase !== 'running');
    expect(await jobOf(routerId, begun)).toMatchObject({ status: 'completed', output: 'done\n' });
  });

  test('a session accepted with the old credentials does not start after the replacement', async () => {
    const old = await firstAgent('one');
    const { agentId, secret } = old.identity;
    await old.stop();
    const identity = await auth().authenticateAgent(`${agentId}:${secret}`);
    await enrol((await replacement(agentId)).token, 'new');
    const hello = {
      type: 'hello' as const,
      versions: [1],
      agent_version: '1',
      journal_id: old.journalId,
      last_epoch: old.lastEpoch,
      routers: [],
    };
    expect(await world.server.services.agentEpochs.assign({ agentId, credential: identity!.credential, hello })).toBeUndefined();
  });

  test('only an active agent of the same team can be replaced, and its revocation invalidates the tokens', async () => {
    const old = await firstAgent('one');
    const { agentId } = old.identity;
    const other = await world.addTeam('Other');
    const refused = { status: 422, body: { errors: { replaces_agent_id: ['is not an agent of this team, or is revoked'] } } };
    expect(await other.call('POST', '/api/enrol-tokens', { replaces_agent_id: agentId })).toMatchObject(refused);
    expect((await ask('POST', '/api/enrol-tokens', { replaces_agent_id: agentId, site_id: agentId })).body.errors).toHaveProperty(
      'site_id',
    );
    const { apiKey } = await auth().createApiKey({ teamId: world.caller.teamId, name: 'op', role: 'operator', createdBy: null });
    expect(
      (await world.caller.call('POST', '/api/enrol-tokens', { replaces_agent_id: agentId }, { authorization: `Bearer ${apiKey}` })).status,
    ).toBe(403);
    const { token } = await replacement(agentId);
    await ask('DELETE', `/api/agents/${agentId}`);
    expect(await auth().presentEnrolToken(token, 'late')).toMatchObject({ status: 'revoked' });
    expect(await ask('POST', '/api/enrol-tokens', { replaces_agent_id: agentId })).toMatchObject(refused);
  });

  test('an agent is removed with the routers that only it reports; routers of other agents stay', async () => {
    const [goes, other] = [await firstAgent('one', 'two'), await firstAgent('three')];
    const { agentId } = goes.identity;
    const [one, two] = [await report(goes, 'one', 'ONE'), await report(goes, 'two', 'TWO')];
    other.send({ type: 'inventory', router: 'three', facts: inventedFacts('TWO') });
    const [move] = await waitUntil('the claim waits', async () => {
      const moves = await list('/api/router-moves');
      return moves.length > 0 && moves;
    });
    await ask('POST', `/api/router-moves/${move}/refuse`);
    takesJobs(goes);
    const begun = await submit(one);
    await waitUntil('it runs', async () => (await jobOf(one, begun)).phase === 'running');
    const queued = await submit(one);
    const { port } = (await ask<{ port: number }>('POST', `/api/routers/${one}/transient-forwarding`, FORWARD)).body;
    const remove = () => ask('DELETE', `/api/agents/${agentId}?remove=true`);

    const stranger = await world.addTeam('Other');
    expect((await stranger.call('DELETE', `/api/agents/${agentId}?remove=true`)).status).toBe(404);
    const first = await remove();
    expect(first).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`(${two}): agent ${other.identity.agentId} also reports this router`) as string },
    });
    expect(await list('/api/routers')).toEqual([two]);
    expect(await list('/api/agents')).toContain(agentId);
    expect((await ask<{ data: { revoked_at: string | null } }>('GET', `/api/agents/${agentId}`)).body.data.revoked_at).not.toBeNull();
    expect(await jobOf(one, begun)).toMatchObject({ status: 'unknown', reason: 'agent_revoked' });
    expect(await jobOf(one, queued)).toMatchObject({ status: 'deleted', reason: 'router_removed' });
    expect(await opens(port)).toBe(false);

    await ask('DELETE', `/api/agents/${other.identity.agentId}`);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(204);
    expect(await list('/api/agents')).toEqual([other.identity.agentId]);
    expect(await list('/api/agents?removed=true')).toEqual([agentId]);
    expect((await ask<{ data: { removed_at: string | null } }>('GET', `/api/agents/${agentId}`)).body.data.removed_at).not.toBeNull();
    expect(await list('/api/routers')).toEqual([]);
    expect((await list('/api/routers?removed=true')).toSorted()).toEqual([one, two].toSorted());
    await onceTold(async () => {
      const { body: audit } = await ask<Rows<{ action: string; detail: string | null; result: number }>>('GET', '/api/audit');
      const entries = audit.data
        .filter(({ action }) => action === 'DELETE /api/agents/:agent_id')
        .map(({ result, detail }) => [result, detail]);
      expect(entries).toEqual([
        [204, 'removed, with routers: 0'],
        [204, 'removed, with routers: 1'],
        [204, null],
        [409, null],
      ]);
    });
  });
});

/** Server and agents as processes that are killed between any two steps of a replacement. */
describe.each(databaseKinds())('kill -9 between the steps, on $name', ({ create }) => {
  let folder: string;
  let database: TestDatabase;
  let simulator: Simulator;
  let url: string;
  let apiKey: string;
  const programs: Program[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-replacement-'));
    database = await create();
    simulator = await startSimulator({ apiPort: 0, sshPort: 0, users: [{ name: 'signalbox', password: 'p', group: 'full' }] });
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) await program.kill();
    await simulator.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async <T>(method: string, route: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) };
    const answer = await fetch(url + route, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return (await answer.json()) as T;
  };
  const ended = (routerId: string, jobId: string, why: string): Promise<Job> =>
    waitUntil(
      why,
      async () => {
        const { data } = await call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${jobId}`).catch(() => ({ data: undefined }));
        return data && !['pending', 'running'].includes(data.status) ? data : undefined;
      },
      60_000,
    );
  const program = (file: string, words: string[], env: Record<string, string> = {}): Program => {
    const made = new Program(file, words, env);
    programs.push(made);
    return made;
  };
  async function agentIn(name: string, token: string): Promise<Program> {
    const config = path.join(folder, `${name}.yaml`);
    const login = { username: 'signalbox', password: 'p' };
    await writeFile(path.join(folder, `${name}.token`), token);
    await writeFile(
      config,
      stringify({
        server: url,
        credentials: `${name}.json`,
        enrol_token_file: `${name}.token`,
        state: `${name}-state`,
        routers: [{ name: 'r', host: '127.0.0.1', api: { port: simulator.apiPort, ...login }, ssh: { port: simulator.sshPort, ...login } }],
      }),
    );
    return program('agent/main.ts', ['run', '--config', config]);
  }

  test('the started job is unknown, the pending one runs once, and the old agent stays refused', async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const server = program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: database.url,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
    });
    const isUp = () =>
      waitUntil('the control plane answers', async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, 60_000);
    server.start();
    await isUp();
    const team = await createTeam(database.url);
    apiKey = team.apiKey;
    const old = await agentIn('old', team.token);
    old.start();
    const routerId = await waitUntil(
      'the router has a pulse',
      async () => {
        const { data } = await call<Rows<{ id: string; has_pulse: boolean }>>('GET', '/api/routers');
        return data.find((router) => router.has_pulse)?.id;
      },
      60_000,
    );
    const [agentId] = (await call<Rows>('GET', '/api/agents')).data.map(({ id }) => id);
    const submit = async (script: string) =>
      (await call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, { ...JOB, script })).data.job_id;
    const runsOf = (jobId: string) => simulator.executions.filter(({ name }) => name === `signalbox-${jobId}`).length;
    const begun = await submit(':put "begun"; :delay 2s');
    await waitUntil('the router runs it', () => runsOf(begun) === 1, 60_000);
    const waiting = await submit(':put "waited"');
    await old.kill();

    const { data: made } = await call<Token>('POST', '/api/enrol-tokens', { replaces_agent_id: agentId });
    await server.kill();
    server.start();
    await isUp();
    const fresh = await agentIn('fresh', made.token);
    fresh.start();
    await waitUntil(
      'the token is used',
      async () => (await call<Rows<{ status: string }>>('GET', '/api/enrol-tokens')).data[0]!.status === 'used',
      60_000,
    );
    await server.kill();
    server.start();
    await isUp();
    // Whether or not it has its credentials: without them its token is spent, and another one is made.
    await fresh.kill();
    fresh.start();
    const isBack = async (): Promise<boolean> =>
      (await call<{ data: { connected: boolean } }>('GET', `/api/agents/${agentId}`)).data.connected;
    await waitUntil(
      'the new agent is connected, or has lost its credentials',
      async () => (await isBack()) || fresh.output.includes('was used'),
      60_000,
    );
    if (!(await isBack())) {
      const { data: again } = await call<Token>('POST', '/api/enrol-tokens', { replaces_agent_id: agentId });
      const second = await agentIn('second', again.token);
      second.start();
    }
    expect(await ended(routerId, begun, 'the begun job is settled')).toMatchObject({ status: 'unknown' });
    expect(await ended(routerId, waiting, 'the waiting job has run')).toMatchObject({ status: 'completed', output: 'waited\n' });
    old.start();
    await waitUntil('the old agent is refused', () => old.output.includes('does not accept the credential'), 60_000);
    expect([runsOf(begun), runsOf(waiting)]).toEqual([1, 1]);
    expect((await call<Rows>('GET', '/api/agents')).data.map(({ id }) => id)).toEqual([agentId]);
    expect((await call<Rows>('GET', '/api/routers')).data.map(({ id }) => id)).toEqual([routerId]);
    expect(server.unaskedEnds).toEqual([]);
  });
});
