import { expect, test } from 'vitest';
import type { RequestHolder } from '../../../server/platform/tunnel/registry.ts';
import { settle, TunnelBench } from '../../harness/tunnel-bench.ts';

/** What holds requests back is told: for how long of which agent, and whose requests may go on. */
function recorder(isOnItsWay: RequestHolder['isOnItsWay'] = () => false): RequestHolder & { said: unknown[] } {
  const said: unknown[] = [];
  const leaves: RequestHolder['leaves'] = (agentId, forMs) => void said.push([agentId, forMs]);
  return { said, leaves, isOnItsWay, announce: (agentId) => void said.push([agentId, 'stays']) };
}

/** Lets `ms` pass in the steps of the drain. */
async function pass(bench: TunnelBench, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await settle();
    bench.clock.advance(100);
  }
  await settle();
}

/** A request that stays under way until the agent answers. */
function ask(bench: TunnelBench) {
  const params = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };
  return bench.registry.request(bench.agentId, 'command', params, { timeoutMs: 60_000 });
}

test('agents are sent away 500 a second', async () => {
  const bench = new TunnelBench();
  const sockets = Array.from({ length: 120 }, () => bench.connect(bench.sessions.add().agentId));
  const stop = new AbortController();
  const drained = bench.registry.drain(stop.signal, recorder());
  const gone = (): number => sockets.filter((socket) => socket.last('goaway') !== undefined).length;
  await settle();
  expect(gone()).toBe(50);
  await pass(bench, 100);
  expect(gone()).toBe(100);
  await pass(bench, 200);
  expect(gone()).toBe(120);
  expect(sockets[0]!.last('goaway')).toMatchObject({ reason: 'restart', reconnect_after_ms: 0 });
  stop.abort();
  await pass(bench, 100);
  await drained;
});

test('while 50 have no other tunnel yet, 50 more a second are sent away', async () => {
  const bench = new TunnelBench();
  const sockets = Array.from({ length: 200 }, () => bench.connect(bench.sessions.add().agentId));
  const stop = new AbortController();
  let areWaitedFor = true;
  const drained = bench.registry.drain(
    stop.signal,
    recorder(() => areWaitedFor),
  );
  const gone = (): number => sockets.filter((socket) => socket.last('goaway') !== undefined).length;
  await settle();
  expect(gone()).toBe(50);
  await pass(bench, 1000);
  expect(gone()).toBe(100);
  areWaitedFor = false;
  await pass(bench, 200);
  expect(gone()).toBe(200);
  stop.abort();
  await pass(bench, 100);
  await drained;
});

test('an agent that was asked something stays until it has answered, and not for longer than 10 s', async () => {
  const bench = new TunnelBench();
  const socket = await bench.ready();
  const asked = ask(bench);
  const outcome = asked.catch((error: unknown) => error);
  const stop = new AbortController();
  const requests = recorder();
  const drained = bench.registry.drain(stop.signal, requests);
  await pass(bench, 9800);
  expect(socket.last('goaway')).toBeUndefined();
  expect(requests.said).toEqual([[bench.agentId, 15_000]]);
  await pass(bench, 400);
  expect(socket.last('goaway')).toMatchObject({ reason: 'restart' });
  expect(await outcome).toMatchObject({ code: 'outcome_unknown' });
  expect(requests.said).toEqual([
    [bench.agentId, 15_000],
    [bench.agentId, 5000],
  ]);
  stop.abort();
  await pass(bench, 200);
  await drained;
});

test('what was under way is answered before the goaway', async () => {
  const bench = new TunnelBench();
  const socket = await bench.ready();
  const asked = ask(bench);
  const stop = new AbortController();
  const requests = recorder();
  const drained = bench.registry.drain(stop.signal, requests);
  await pass(bench, 3000);
  const { id } = socket.last('request')!;
  socket.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'command', ret: 'done' } } });
  expect(await asked).toEqual({ ret: 'done' });
  await pass(bench, 200);
  expect(socket.last('goaway')).toMatchObject({ reason: 'restart', reconnect_after_ms: 0 });
  expect(requests.said.at(-1)).toEqual([bench.agentId, 5000]);
  stop.abort();
  await pass(bench, 100);
  await drained;
});

test('whoever has not left when the drain is ended stays, and gets requests again', async () => {
  const bench = new TunnelBench();
  const socket = await bench.ready();
  const asked = ask(bench);
  const stop = new AbortController();
  const requests = recorder();
  const drained = bench.registry.drain(stop.signal, requests);
  await pass(bench, 1000);
  stop.abort();
  await pass(bench, 100);
  await drained;
  expect(socket.last('goaway')).toBeUndefined();
  expect(requests.said).toEqual([
    [bench.agentId, 15_000],
    [bench.agentId, 'stays'],
  ]);
  const { id } = socket.last('request')!;
  socket.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'command' } } });
  await asked;
});
