import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
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
  const becomes = (state: string, reason: string | null): Promise<Shown> =>
    waitUntil(`${state}, ${reason}`, async () => {
      const router = await read();
      return router.state === state && router.state_reason === reason ? router : undefined;
    });
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
    expect(await agent()).toMatchObject({
      connected: true,
      epoch: expect.any(Number),
      address: '127.0.0.1',
      router_count: 1,
      last_ended_by: null,
    });
    const list = await world.caller.call<{ data: Shown[] }>('GET', '/api/routers');
    expect(list.body.data[0]).toMatchObject({ state: 'answering', state_since: router.state_since, state_reason: null });
  });

  test('agent_away when its agent has left, and answering again when it is back', async () => {
    await world.agent!.close();
    const leftAt = Date.now();
    const router = await becomes('agent_away', 'left');
    since(leftAt).within(router.state_since);
    const away = await agent();
    expect(away).toMatchObject({ connected: false, epoch: null, round_trip_ms: null, last_ended_by: 'left' });
    since(leftAt).within(String(away['since']));

    await world.startAgent();
    await becomes('answering', null);
    const [now, before] = (await sessions()).body.data;
    expect(now).toMatchObject({ closed_at: null, ended_by: null, bytes_in: expect.any(Number) });
    expect(before).toMatchObject({ ended_by: 'left', closed_at: away['since'], agent_version: expect.any(String) });
    expect(before?.bytes_in).toBeGreaterThan(0);
    expect(before?.bytes_out).toBeGreaterThan(0);
  });

  test('agent_away since the stop of the control plane, until its agent is back', async () => {
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
});
