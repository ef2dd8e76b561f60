import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { enrol } from '../../agent/link/enrol.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { oneNodeOnly } from '../harness/cluster/one-node.ts';
import { NODES } from '../harness/cluster/shared-engines.ts';
import { databaseKinds } from '../harness/databases.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** What is asked of a router here. */
interface Shown {
  id: string;
  has_pulse: boolean;
  state: string;
  state_since: string;
  state_reason: string | null;
  agent_name: string | null;
}

interface Session {
  epoch: number | null;
  ready_at: string | null;
  closed_at: string | null;
  ended_by: string | null;
  agent_version: string | null;
  bytes_in: number | null;
  bytes_out: number | null;
}

/** A moment is right to so much. */
const RIGHT_TO_MS = 2000;

describe.each(databaseKinds())('the state of a router on $name', (kind) => {
  let world: World;
  let remove: () => Promise<void>;
  let id: string;

  beforeAll(async () => {
    const database = await kind.create();
    remove = database.remove;
    world = await World.start({ databaseUrl: database.url });
    [id = ''] = await world.routerIds();
  });
  afterAll(async () => {
    await world.close();
    await remove();
  });

  const read = async (): Promise<Shown> => (await world.caller.call<{ data: Shown }>('GET', `/api/routers/${id}`)).body.data;
  /** Of several control planes all must say so, which answer in turn: one may still show the state before the last one. */
  const becomes = (state: string, reason: string | null): Promise<Shown> =>
    waitUntil(`${state}, ${reason}`, async () => {
      const shown: Shown[] = [];
      while (shown.length < NODES) shown.push(await read());
      return shown.every((router) => router.state === state && router.state_reason === reason) ? shown[0] : undefined;
    });
  /** Every one of several control planes reads in the database a moment later whose tunnel another one has. */
  const agent = async () => (await world.caller.call<{ data: Record<string, unknown>[] }>('GET', '/api/agents')).body.data[0]!;
  const sessions = async (query = '') =>
    world.caller.call<{ data: Session[] }>('GET', `/api/agents/${String((await agent())['id'])}/sessions${query}`);
  const since = (at: number) => {
    const moment = new Date(at).toISOString();
    return {
      within: (shown: string) => expect(Math.abs(Date.parse(shown) - at), `${shown} instead of ${moment}`).toBeLessThan(RIGHT_TO_MS),
    };
  };

  test('answering while its agent is connected and it answers', async () => {
    const router = await becomes('answering', null);
    expect(router).toMatchObject({ has_pulse: true, agent_name: 'test' });
    await onceTold(async () =>
      expect(await agent()).toMatchObject({
        connected: true,
        epoch: expect.any(Number),
        address: '127.0.0.1',
        router_count: 1,
        last_ended_by: null,
      }),
    );
    await onceTold(async () => {
      const list = await world.caller.call<{ data: Shown[] }>('GET', '/api/routers');
      expect(list.body.data[0]).toMatchObject({ state: 'answering', state_since: router.state_since, state_reason: null });
    });
  });

  test('agent_away when its agent has left, and answering again when it is back', async () => {
    await world.agent!.close();
    const leftAt = Date.now();
    const router = await becomes('agent_away', 'left');
    since(leftAt).within(router.state_since);
    let away: Record<string, unknown> = {};
    await onceTold(async () => {
      away = await agent();
      expect(away).toMatchObject({ connected: false, epoch: null, round_trip_ms: null, last_ended_by: 'left' });
    });
    since(leftAt).within(String(away['since']));

    await world.startAgent();
    await becomes('answering', null);
    const [now, before] = (await sessions()).body.data;
    expect(now).toMatchObject({ closed_at: null, ended_by: null, bytes_in: expect.any(Number) });
    expect(before).toMatchObject({ ended_by: 'left', closed_at: away['since'], agent_version: expect.any(String) });
    expect(before?.bytes_in).toBeGreaterThan(0);
    expect(before?.bytes_out).toBeGreaterThan(0);
  });

  test('agent_away since the stop of the control plane, until its agent is back', async (context) => {
    oneNodeOnly(context, kind.name === 'PostgreSQL', 'the agent has its tunnel with one that is not stopped');
    const before = await becomes('answering', null);
    const port = new URL(world.server.url).port;
    const stoppedAt = Date.now();
    await world.restartServer();
    expect(new URL(world.server.url).port).toBe(port);
    const first = await read();
    if (first.state !== 'answering') {
      expect(first).toMatchObject({ state: 'agent_away', state_reason: 'server_stopped' });
      since(stoppedAt).within(first.state_since);
    }
    const after = await becomes('answering', null);
    expect(Date.parse(after.state_since)).toBeGreaterThan(Date.parse(before.state_since));
    const [, former] = (await sessions()).body.data;
    expect(former).toMatchObject({ ended_by: 'server_stopped' });
  });

  test('not_answering with the word of the agent: the login is refused, then the API is closed', async () => {
    await becomes('answering', null);
    const [simulator] = world.simulators;
    const users = simulator!.router.table('/user');
    const user = users.find('name', 'signalbox')!;
    users.update(user, [['password', 'another']]);
    const brokenAt = Date.now();
    simulator!.faults.resetConnections();
    const refused = await becomes('not_answering', 'login_refused');
    since(brokenAt).within(refused.state_since);
    expect(refused).toMatchObject({ has_pulse: false });

    simulator!.faults.refuseConnections = true;
    const closed = await becomes('not_answering', 'closed');
    expect(closed.state_since).toBe(refused.state_since);

    simulator!.faults.refuseConnections = false;
    users.update(user, [['password', 'router-password']]);
    await becomes('answering', null);
  });

  test('agent_away at once when its agent is killed', async () => {
    await becomes('answering', null);
    const proxy = await StallProxy.start(Number(new URL(world.server.url).port));
    await world.agent!.close();
    await world.startAgent({ server: `http://127.0.0.1:${proxy.port}` });
    await becomes('answering', null);
    // As when the process is killed: its system ends the connections, and nobody dials again.
    await proxy.close();
    const killedAt = Date.now();
    const router = await becomes('agent_away', 'network');
    since(killedAt).within(router.state_since);
    await world.agent!.close();
    await world.startAgent();
    await becomes('answering', null);
  });

  test('agent_away, replaced, when another machine replaces its agent', async () => {
    await becomes('answering', null);
    const agentId = String((await agent())['id']);
    const { token } = await world.server.services.credentials.createEnrolToken({
      teamId: world.caller.teamId,
      siteId: null,
      replacesAgentId: agentId,
    });
    await rm(path.join(world.folder, 'credentials.json'));
    const replacedAt = Date.now();
    await enrol({ server: world.server.url, token, name: 'test', credentialsFile: path.join(world.folder, 'credentials.json') });
    const router = await becomes('agent_away', 'replaced');
    since(replacedAt).within(router.state_since);
    await world.agent!.close();
    await world.startAgent();
    await becomes('answering', null);
  });

  test('list, detail and the stream of events end with the same state, and the stream has every change', async () => {
    const team = world.caller;
    const stream = await fetch(`${world.server.url}/api/events?types=router.changed,agent.online,agent.offline`, {
      headers: { authorization: `Bearer ${team.apiKey}` },
    });
    const told: { type: string; data: Record<string, unknown> }[] = [];
    const reading = (async () => {
      let text = '';
      for await (const chunk of stream.body!) {
        text += Buffer.from(chunk).toString();
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const type = /^event: (.+)$/m.exec(block)?.[1];
          const data = /^data: (.+)$/m.exec(block)?.[1];
          if (type !== undefined && data !== undefined) told.push({ type, data: JSON.parse(data) as Record<string, unknown> });
        }
      }
    })().catch(() => undefined);
    for (let turn = 0; turn < 3; turn += 1) {
      await world.agent!.close();
      await becomes('agent_away', 'left');
      const detail = await read();
      const [listed] = (await team.call<{ data: Shown[] }>('GET', '/api/routers')).body.data;
      for (const key of ['state', 'state_since', 'state_reason', 'has_pulse'] as const) expect(listed![key]).toEqual(detail[key]);
      await waitUntil('the stream has it', () => told.at(-1)?.type === 'router.changed' || told.at(-2)?.type === 'router.changed');
      const event = told.findLast(({ type }) => type === 'router.changed')!;
      expect(event.data).toMatchObject({
        router_id: id,
        state: detail.state,
        state_since: detail.state_since,
        state_reason: detail.state_reason,
      });
      await world.startAgent();
      await becomes('answering', null);
    }
    const last = await read();
    await waitUntil('the stream has the last one', () =>
      told.some(({ data }) => data['state'] === 'answering' && data['state_since'] === last.state_since),
    );
    const states = told.filter(({ type }) => type === 'router.changed').map(({ data }) => data['state']);
    expect(states).toEqual(Array.from({ length: 3 }, () => ['agent_away', 'answering']).flat());
    expect(told.filter(({ type }) => type !== 'router.changed').map(({ type }) => type)).toEqual(
      Array.from({ length: 3 }, () => ['agent.offline', 'agent.online']).flat(),
    );
    void stream.body?.cancel().catch(() => undefined);
    void reading;
  });

  test('sessions have pages', async () => {
    const first = await sessions('?limit=1');
    expect(first.body.data).toHaveLength(1);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')![1]!;
    const second = await world.caller.call<{ data: Session[] }>('GET', next);
    expect(second.body.data[0]!.epoch).toBeLessThan(first.body.data[0]!.epoch!);
    const stranger = await world.addTeam('Another');
    const url = `/api/agents/${String((await agent())['id'])}/sessions`;
    expect((await stranger.call('GET', url)).status).toBe(404);
  });

  test('agent_away, revoked, when its agent is revoked', async () => {
    await becomes('answering', null);
    const revokedAt = Date.now();
    expect((await world.caller.call('DELETE', `/api/agents/${String((await agent())['id'])}`)).status).toBe(204);
    const router = await becomes('agent_away', 'revoked');
    since(revokedAt).within(router.state_since);
    await onceTold(async () => expect(await agent()).toMatchObject({ connected: false, last_ended_by: 'revoked' }));
  });
});
