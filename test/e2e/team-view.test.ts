import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';
import { waitUntil } from '../harness/wait-until.ts';

interface Listed {
  id: string;
  identity: string;
  state: string;
  state_since: string;
}
interface List {
  data: Listed[];
  total?: number;
}
interface Overview {
  data: {
    routers: Record<string, number>;
    agents: Record<string, number>;
    jobs_24h: Record<string, number>;
    common_causes: { kind: string; value: string; name: string | null; routers_away: number; routers: number }[];
  };
}

describe('the whole team at once', () => {
  let world: World;
  let other: Caller;
  let ids: string[];
  beforeAll(async () => {
    world = await World.start({ routers: [{}, {}, {}] });
    ids = await world.routerIds();
    other = await world.addTeam('Other');
  });
  afterAll(async () => world.close());

  const list = async (query: string): Promise<List> => (await world.caller.call<List>('GET', `/api/routers?${query}`)).body;
  const overview = async (caller = world.caller): Promise<Overview['data']> =>
    (await caller.call<Overview>('GET', '/api/overview')).body.data;
  const job = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };

  test('the overview counts what the lists show, and another team sees none of it', async () => {
    await waitUntil('all routers answer', async () => (await list('state=answering&total=true')).total === 3);
    expect(await overview()).toMatchObject({
      routers: { answering: 3, not_answering: 0, agent_away: 0, never_seen: 0 },
      agents: { connected: 1, away: 0, unseen: 0 },
      common_causes: [],
    });
    expect(await overview(other)).toMatchObject({ routers: { answering: 0 }, agents: { connected: 0 }, jobs_24h: { completed: 0 } });
  });

  test('jobs of the last day are counted by status', async () => {
    await world.caller.call('POST', `/api/asynchronous/${ids[0]}`, job);
    await waitUntil('the job is completed', async () => (await overview()).jobs_24h['completed'] === 1);
    const { body } = await world.caller.call<{ data: { status: string; router_id: string }[] }>('GET', '/api/jobs?status=completed');
    expect(body.data).toMatchObject([{ status: 'completed', router_id: ids[0] }]);
    expect((await other.call<List>('GET', '/api/jobs')).body.data).toEqual([]);
  });

  test('when the agent goes, filter, total, order and overview say so together, and name the agent as the common cause', async () => {
    await world.agent!.close();
    world.agent = undefined;
    for (const node of world.controlPlanes)
      await waitUntil('the agent is away', async () => (await overview(world.callerAt(node))).routers['agent_away'] === 3);
    expect((await list('state=!agent_away')).data).toEqual([]);
    const sorted = (await list('sort=state_since')).data;
    expect(sorted.map(({ state_since: since }) => since)).toEqual(sorted.map(({ state_since: since }) => since).toSorted());
    const first = await world.caller.call<List>('GET', '/api/routers?sort=-state_since&limit=2&state=agent_away');
    const next = /<([^>]*)>/.exec(first.headers.get('link')!)![1]!;
    const second = await world.caller.call<List>('GET', next);
    expect(new Set([...first.body.data, ...second.body.data].map(({ id }) => id))).toEqual(new Set(ids));
    const { routers, agents, common_causes: causes } = await overview();
    expect({ routers, agents }).toMatchObject({ routers: { agent_away: 3, answering: 0 }, agents: { connected: 0, away: 1 } });
    expect(causes).toContainEqual(expect.objectContaining({ kind: 'agent', name: 'test', routers_away: 3, routers: 3 }));
    await world.startAgent();
    await waitUntil('all routers answer again', async () => (await list('state=answering&total=true')).total === 3);
  });

  test.each(['state=away', 'state=agent_away&removed=true', 'sort=state_since&removed=true'])('refuses %s', async (query) => {
    expect((await world.caller.call('GET', `/api/routers?${query}`)).status).toBe(422);
  });

  test('callers see their address as the server sees it', async () => {
    expect((await world.caller.call('GET', '/api/me/address')).body).toEqual({
      status: 'success',
      data: { address: '127.0.0.1', is_public: false, can_be_source: true },
    });
  });
});

/** Jobs as an event stream and the list together tell of them. */
class Follower {
  readonly statuses = new Map<string, string>();
  readonly #stop = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  static async start({ server }: World, { apiKey }: Caller): Promise<Follower> {
    const follower = new Follower();
    const headers = { authorization: `Bearer ${apiKey}` };
    let position: string | null = null;
    for (let next: string | undefined = '/api/jobs?limit=7'; next !== undefined;) {
      const answer: Response = await fetch(`${server.url}${next}`, { headers });
      position ??= answer.headers.get('x-event-id');
      for (const { id, status } of ((await answer.json()) as { data: { id: string; status: string }[] }).data)
        follower.statuses.set(id, status);
      next = /<([^>]*)>/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    const stream = await fetch(`${server.url}/api/events`, {
      headers: { ...headers, 'last-event-id': position! },
      signal: follower.#stop.signal,
    });
    follower.#reading = follower.#read(stream.body!).catch(() => undefined);
    return follower;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) this.#apply(event);
    }
  }

  #apply(event: string): void {
    if (/^event: resync$/m.test(event)) throw new Error('the stream had forgotten where the list was read');
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (data === undefined || !/^event: job\./m.test(event)) return;
    const { job_id: id, status } = JSON.parse(data) as { job_id: string; status: string };
    this.statuses.set(id, status);
  }
}

test('a client that reads a list and then the stream from its position ends with the state of the server, under load', async () => {
  const world = await World.start({ routers: [{}, {}] });
  try {
    const ids = await world.routerIds();
    const job = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
    const load = Array.from({ length: 40 }, async (_, index) => {
      const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${ids[index % 2]}`, {
        ...job,
        express_execute: index % 3 === 0,
      });
      if (index % 4 === 0) await world.caller.call('DELETE', `/api/routers/${ids[index % 2]}/jobs/${body.data.job_id}`);
    });
    const followers: Follower[] = [];
    // One after the other, so that their lists are read at different moments of the load.
    for (let count = 0; count < 5; count += 1) followers.push(await Follower.start(world, world.caller));
    await Promise.all(load);
    const truth = await waitUntil('all jobs have ended', async () => {
      const { body } = await world.caller.call<{ data: { id: string; status: string }[] }>('GET', '/api/jobs');
      return body.data.length === 40 && body.data.every(({ status }) => !['pending', 'running'].includes(status)) ? body.data : undefined;
    });
    const expected = new Map(truth.map(({ id, status }) => [id, status]));
    for (const follower of followers) {
      await waitUntil('the follower knows it all', async () => [...expected].every(([id, status]) => follower.statuses.get(id) === status));
      expect(follower.statuses).toEqual(expected);
      await follower.stop();
    }
  } finally {
    await world.close();
  }
});
