import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inventoryOf } from '../harness/attacked-server.ts';
import { RecordedEvents } from '../harness/recorded-events.ts';
import { settle, TunnelBench } from '../harness/tunnel-bench.ts';

/** Messages in a wrong order, and answers that were not requested. */

describe('a ready before hello', () => {
  test('registers no routers before the features know the tunnel', async () => {
    const settled = Promise.withResolvers<void>();
    const bench = new TunnelBench(new RecordedEvents({ onReady: () => settled.promise }));
    const socket = bench.connect();
    socket.say({ type: 'ready', epoch: 1, journal_id: bench.journalId, jobs: [] });
    await settle();
    socket.say(bench.hello());
    await settle();
    bench.sayReady(socket);
    await settle();
    for (let index = 0; index < 100; index += 1) socket.sayText(JSON.stringify(inventoryOf(`invented ${index}`)));
    await settle();
    // How many routers the agent has is being counted, and told only when that is done.
    expect(bench.events.story.filter((line) => line.startsWith('inventory'))).toEqual([]);
    settled.resolve();
    await settle();
    await settle();
    expect(bench.events.story.filter((line) => line.startsWith('inventory')).length).toBeGreaterThan(0);
  });

  test('is ignored, also when repeated or with jobs of other agents', async () => {
    const bench = new TunnelBench();
    const socket = bench.connect();
    for (let index = 0; index < 3; index += 1)
      socket.say({ type: 'ready', epoch: index + 1, journal_id: bench.journalId, jobs: [{ job_id: randomUUID(), state: 'begun' }] });
    socket.say({ type: 'job.accepted', job_id: randomUUID() });
    socket.say({ type: 'heartbeat', routers: [] });
    await settle();
    expect(bench.events.lines).toEqual([]);
    expect(socket.sent).toEqual([]);
    socket.say(bench.hello());
    await settle();
    bench.sayReady(socket);
    await settle();
    expect(bench.events.lines).toHaveLength(1);
  });
});

test.each([-1, 1.5, 2 ** 53, '1', null, 1e300])('a hello with the last epoch %j is refused', async (lastEpoch) => {
  const bench = new TunnelBench();
  const socket = bench.connect();
  socket.sayText(JSON.stringify({ ...bench.hello(), last_epoch: lastEpoch }));
  await settle();
  expect(socket.closed).toMatchObject({ code: 4400 });
  expect(bench.sessions.agents.get(bench.agentId)!.epoch).toBe(0);
});

test('a ready with the epoch of another tunnel, an older or a future one, closes the tunnel and confirms nothing', async () => {
  for (const epoch of [1, 3, 4, Number.MAX_SAFE_INTEGER]) {
    const bench = new TunnelBench();
    await bench.ready();
    const socket = await bench.welcomed();
    socket.say({ type: 'ready', epoch, journal_id: bench.journalId, jobs: [] });
    await settle();
    expect(socket.closed).toMatchObject({ code: 4400 });
    expect(bench.sessions.agents.get(bench.agentId)!.confirmed).toBe(1);
    expect(bench.registry.epoch(bench.agentId)).toBeUndefined();
  }
});

test('after a goaway, messages of the agent are ignored and nothing is sent to it', async () => {
  const bench = new TunnelBench();
  const socket = await bench.ready();
  socket.say({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 });
  const [told, sent] = [bench.events.lines.length, socket.sent.length];
  socket.say({ type: 'job.accepted', job_id: randomUUID() });
  socket.sayText(JSON.stringify(inventoryOf('late')));
  socket.say({ type: 'heartbeat', routers: [] });
  socket.say({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 });
  await settle();
  expect(bench.events.lines.slice(told).filter((line) => !line.startsWith('gone'))).toEqual([]);
  expect(socket.sent).toHaveLength(sent);
});

test('answers to requests of another agent, or of another type, are dropped, whatever id they guess', async () => {
  const bench = new TunnelBench();
  const honest = await bench.ready();
  const { agentId } = bench.sessions.add();
  const hostile = bench.connectAs(agentId, 'another team');
  hostile.say(bench.hello({ journal_id: randomUUID(), last_epoch: 0 }));
  await settle();
  const command = { router: 'one', hardware_id: 'HW1', path: '/system/identity/print', words: [] };
  const rows: unknown[] = [];
  const asked = bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 60_000, onRows: (batch) => rows.push(...batch) });
  for (let id = 1; id <= 1000; id += 1) {
    hostile.say({ type: 'rows', id, rows: [{ name: 'forged' }] });
    hostile.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'command', ret: 'forged' } } });
  }
  for (const id of [2, 3, Number.MAX_SAFE_INTEGER])
    honest.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'command', ret: 'too early' } } });
  honest.say({ type: 'rows', id: 1, rows: [{ name: 'true' }] });
  honest.say({ type: 'reply', id: 1, outcome: { ok: true, result: { method: 'command' } } });
  honest.say({ type: 'reply', id: 1, outcome: { ok: true, result: { method: 'command', ret: 'once more' } } });
  honest.say({ type: 'rows', id: 1, rows: [{ name: 'late' }] });
  expect(await asked).toEqual({});
  expect(rows).toEqual([{ name: 'true' }]);
  const other = bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 60_000 });
  honest.say({ type: 'reply', id: 2, outcome: { ok: true, result: { method: 'backup.read', size: 0, sha256: '0'.repeat(64) } } });
  await expect(other).rejects.toMatchObject({ code: 'outcome_unknown' });
});
