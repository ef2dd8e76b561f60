import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { ProcessWorld } from '../harness/process-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

interface Item {
  kind: string;
  at: string;
  until: string | null;
  status: string;
}

/** The control plane writes a sign of life every 2 s. */
const LAST_SIGN_MS = 2500;
/** How long it is away, without its start. */
const AWAY_MS = 3000;

describe.each(databaseKinds())('time without a control plane, on $name', ({ create }) => {
  let database: TestDatabase;
  let world: ProcessWorld;
  beforeAll(async () => {
    database = await create();
    world = await ProcessWorld.start({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await world.close();
    await database.remove();
  });

  const read = async <T>(route: string): Promise<T> => (await world.call<{ data: T }>('GET', route)).data;

  test.each([
    { how: 'kill -9', end: () => world.server.kill(), endedBy: 'unknown', lateMs: LAST_SIGN_MS },
    { how: 'a stop', end: () => world.server.stop(), endedBy: 'server_stopped', lateMs: 0 },
  ])('after $how is unknown to the histories of router and agent, to the bars and to the sessions', async ({ end, endedBy, lateMs }) => {
    const routerId = world.routerIds[0]!;
    const { agent_id: agentId } = (await world.call<{ data: { agent_id: string } }>('GET', `/api/routers/${routerId}`)).data;
    await world.pulses();
    await sleep(LAST_SIGN_MS);
    const before = Date.now();
    await end();
    const endedAt = Date.now();
    await sleep(AWAY_MS);
    const startedAt = Date.now();
    await world.startServer();
    const upAt = Date.now();
    await waitUntil(
      'the router answers again',
      async () => {
        const { state } = (await world.call<{ data: { state: string } }>('GET', `/api/routers/${routerId}`)).data;
        return state === 'answering';
      },
      60_000,
    );

    const [gap] = await read<Item[]>(`/api/routers/${routerId}/history?kind=unknown`);
    expect(gap).toMatchObject({ kind: 'unknown', status: 'unknown' });
    const [from, until] = [Date.parse(gap!.at), Date.parse(gap!.until!)];
    expect(from).toBeGreaterThanOrEqual(before - lateMs);
    expect(from).toBeLessThanOrEqual(endedAt);
    expect(until).toBeGreaterThanOrEqual(startedAt);
    expect(until).toBeLessThanOrEqual(upAt);

    const ofAgent = await read<Item[]>(`/api/agents/${agentId}/history`);
    expect(ofAgent.find(({ kind }) => kind === 'unknown')).toEqual(gap);
    // The session ended when knowledge ended, and the next one began after it.
    const [present, former] = ofAgent.filter(({ kind }) => kind === 'session');
    expect(former).toMatchObject({ status: endedBy });
    expect(Math.abs(Date.parse(former!.until!) - from)).toBeLessThan(2000);
    expect(Date.parse(present!.at)).toBeGreaterThanOrEqual(until);

    const range = `from=${gap!.at}&to=${gap!.until}`;
    const { total } = await read<{ total: Record<string, number> }>(`/api/routers/${routerId}/availability?bucket=hour&${range}`);
    expect(total).toMatchObject({ answering: 0, not_answering: 0, agent_away: 0, percent_of_known: null });
    expect(total['unknown']).toBeCloseTo((until - from) / 1000, 3);
    const [other] = await read<{ total: unknown }[]>(`/api/availability?bucket=hour&router_ids=${routerId}&${range}`);
    expect(other!.total).toEqual(total);
  });
});
