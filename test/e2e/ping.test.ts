import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AppError } from '../../server/platform/core/errors.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Answer } from '../harness/world.ts';
import { World } from '../harness/world.ts';
import { Stopwatch } from '../harness/stopwatch.ts';

/** The round trip to the API of a router. */

interface Result {
  data: { sent: number; received: number; min_ms: number; avg_ms: number; max_ms: number; times_ms: (number | null)[] };
}

interface Refusal {
  code: string;
  reason?: string;
  message: string;
}

let world: World;
let ids: string[];
beforeAll(async () => {
  // What it asks the agent is changed on the way.
  world = await World.start({ routers: [{ version: '6.49.18' }, { version: '7.18.2' }], spread: false });
  ids = await world.routerIds();
});
afterAll(() => world.close());

const ping = <T = Result>(router: number, body?: object): Promise<Answer<T>> =>
  world.caller.call<T>('POST', `/api/routers/${ids[router]!}/ping`, body);

const reasonOf = async (router: number): Promise<string | null> =>
  (await world.caller.call<{ data: { state_reason: string | null } }>('GET', `/api/routers/${ids[router]!}`)).body.data.state_reason;

test.each([0, 1])('router %i answers each probe; the figures are those of the probes', async (router) => {
  const { status, body } = await ping(router);
  expect(status).toBe(200);
  const { times_ms: times, ...data } = body.data;
  expect(data).toMatchObject({ sent: 3, received: 3 });
  expect(times).toHaveLength(3);
  expect(data.min_ms).toBe(Math.min(...(times as number[])));
  expect(data.max_ms).toBe(Math.max(...(times as number[])));
  expect(data.min_ms).toBeGreaterThan(0);
  expect(data.avg_ms).toBeCloseTo((times as number[]).reduce((sum, time) => sum + time, 0) / 3, 1);
});

test('the time that the router takes is measured', async () => {
  world.simulators[1]!.faults.delayMs = 150;
  const { body } = await ping(1, { count: 2 });
  world.simulators[1]!.faults.delayMs = 0;
  expect(body.data.min_ms).toBeGreaterThanOrEqual(150);
});

test('one lost probe does not take the time of the others', async () => {
  const { gateway } = world.server.services;
  const request = gateway.request.bind(gateway);
  const spy = vi.spyOn(gateway, 'request').mockImplementationOnce(async (...asked) => {
    await request(...asked);
    throw new AppError('outcome_unknown', 'no answer in time');
  });
  const { body } = await ping(1);
  expect(spy.mock.calls.map(([, , , { timeoutMs }]) => timeoutMs)[0]).toBeLessThanOrEqual(1667);
  spy.mockRestore();
  expect(body.data).toMatchObject({ sent: 3, received: 2, times_ms: [null, expect.any(Number), expect.any(Number)] });
});

test.each([{ count: 11 }, { count: 0 }, { timeout_seconds: 31 }])('%j is refused', async (body) => {
  expect((await ping<Refusal>(0, body)).body.code).toBe('invalid');
});

test('a router that refuses to answer the question has answered', async () => {
  const { gateway } = world.server.services;
  const spy = vi.spyOn(gateway, 'request').mockRejectedValue(new AppError('rejected_by_router', 'not enough permissions (9)'));
  const { body } = await ping(1, { count: 1 });
  spy.mockRestore();
  expect(body.data.received).toBe(1);
});

describe('without an answer', () => {
  test('a router that stays silent is unreachable by the deadline: timeout', async () => {
    world.simulators[1]!.faults.silent = true;
    const stopwatch = new Stopwatch();
    const { status, body } = await ping<Refusal>(1, { timeout_seconds: 1 });
    world.simulators[1]!.faults.silent = false;
    expect({ status, code: body.code, reason: body.reason }).toEqual({ status: 503, code: 'router_unreachable', reason: 'timeout' });
    expect(stopwatch.ms).toBeLessThan(4000);
  });

  test('a router that ends every connection is unreachable, with the reason of its state', async () => {
    world.simulators[0]!.faults.refuseConnections = true;
    world.simulators[0]!.faults.resetConnections();
    await waitUntil('its state says so', async () => (await reasonOf(0)) !== null);
    const { status, body } = await ping<Refusal>(0);
    expect({ status, code: body.code, reason: body.reason }).toEqual({
      status: 503,
      code: 'router_unreachable',
      reason: await reasonOf(0),
    });
  });

  test('an agent that is away is named with the end of its session', async () => {
    await world.agent!.close();
    world.agent = undefined;
    const { status, body } = await waitUntil('the agent is away, and the state of its router says so', async () => {
      const answer = await ping<Refusal>(1);
      return answer.body.code === 'agent_offline' && answer.body.reason !== undefined ? answer : undefined;
    });
    expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'left' });
  });
});
