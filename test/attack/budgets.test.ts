import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLOSE, MAX_REPLY_BYTES, MAX_ROUTERS_PER_AGENT } from '../../protocol/index.ts';
import { sampledLog } from '../../server/platform/core/sampled-log.ts';
import type { Log, LogFields } from '../../server/platform/core/log.ts';
import { AGENT_BUDGET, AgentBudget } from '../../server/platform/tunnel/budget.ts';
import { LoopTime } from '../../server/platform/tunnel/loop-time.ts';
import { UNFINISHED_REPLIES } from '../../server/platform/tunnel/reply-memory.ts';
import { AttackedServer, inventoryOf } from '../harness/attacked-server.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { settle, TunnelBench } from '../harness/tunnel-bench.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an agent that sends too many unreadable messages', () => {
  let server: AttackedServer;
  beforeAll(async () => {
    server = await AttackedServer.start();
  });
  afterAll(async () => {
    await server?.close();
  });

  test('is closed with 4429 and a retry time and refused until then; another agent connects', async () => {
    const hostile = await server.enrol();
    const ws = await server.tunnel(hostile);
    let told: { reconnect_after_ms?: number } = {};
    ws.on('message', (data) => (told = JSON.parse((data as Buffer).toString()) as typeof told));
    const closed = once(ws, 'close');
    for (let i = 0; i < 150; i += 1) ws.send('{"type":"job.accepted","job_id":5}');
    expect((await closed)[0]).toBe(CLOSE.abuse);
    expect(told).toMatchObject({ type: 'goaway', reason: 'protocol' });
    expect(told.reconnect_after_ms).toBeGreaterThan(5000);
    await expect(server.dial(hostile)).rejects.toThrow('429');
    const other = await server.tunnel(await server.enrol());
    other.terminate();
  });

  test('may send a few, as an agent of another version might', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    for (let i = 0; i < AGENT_BUDGET.offences.burst - 1; i += 1) socket.sayText('{"type":"job.accepted","job_id":5}');
    expect(socket.closed).toBeUndefined();
    socket.sayText('{"type":"job.accepted","job_id":5}');
    expect(socket.closed).toMatchObject({ code: CLOSE.abuse });
    expect(bench.counters.get('tunnel_abuse')).toBe(1);
  });
});

describe('the budget of an agent', () => {
  test('doubles the pause with each abuse, up to ten minutes, and forgets it after an hour', () => {
    const budget = new AgentBudget(0);
    let now = 0;
    const abuse = (): number => {
      while (budget.offend(50, now));
      const pause = budget.pauseMs(now);
      now += pause + 1;
      return pause;
    };
    expect(Array.from({ length: 8 }, abuse)).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
    now += 3_700_000;
    expect(abuse()).toBe(10_000);
  });

  test('pauses reading the tunnel when used up, and loses no message', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    for (let i = 0; i < AGENT_BUDGET.messages.burst + 500; i += 1) socket.say({ type: 'heartbeat', routers: [] });
    await settle();
    expect(socket.paused).toBe(true);
    expect(bench.counters.get('tunnel_budget')).toBe(1);
    expect(bench.events.lines.filter((line) => line.startsWith('heartbeat'))).toHaveLength(AGENT_BUDGET.messages.burst + 500);
    bench.clock.advance(1000);
    expect(socket.paused).toBe(false);
  });

  test('is not refilled by a reconnect', async () => {
    const bench = new TunnelBench();
    const first = await bench.ready();
    for (let i = 0; i < AGENT_BUDGET.messages.burst; i += 1) first.say({ type: 'heartbeat', routers: [] });
    const second = await bench.ready();
    second.say({ type: 'heartbeat', routers: [] });
    expect(second.paused).toBe(true);
  });

  test('allows sixty dials at once, then one per second', () => {
    const budget = new AgentBudget(0);
    for (let i = 0; i < AGENT_BUDGET.dials.burst; i += 1) expect(budget.dial(0)).toBe(0);
    expect(budget.dial(0)).toBeGreaterThan(0);
    expect(budget.dial(1001)).toBe(0);
  });

  test('closes the oldest tunnel when there are too many', async () => {
    const bench = new TunnelBench();
    const sockets = Array.from({ length: 9 }, () => bench.connect());
    await settle();
    expect(sockets.map(({ closed }) => closed !== undefined)).toEqual([true, ...Array.from({ length: 8 }, () => false)]);
  });

  test('leaves room for the largest honest load: 500 routers after a reconnect, 10,000 devices, a reply of 16 MB', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    const spent = { messages: 0, bytes: 0 };
    const say = (message: object): void => {
      const text = JSON.stringify(message);
      spent.messages += 1;
      spent.bytes += text.length;
      socket.sayText(text);
    };
    for (let i = 0; i < MAX_ROUTERS_PER_AGENT; i += 1) say(inventoryOf(`router-${i}`));
    say({
      type: 'heartbeat',
      routers: Array.from({ length: MAX_ROUTERS_PER_AGENT }, (_, i) => ({
        name: `router-${i}`,
        reachable: true,
        uptime_seconds: 5,
        reason: null,
      })),
    });
    const devices = Array.from({ length: 500 }, (_, i) => ({
      mac: `AA:BB:CC:DD:${String(i % 90).padStart(2, '0')}:EE`,
      ip: '10.0.0.1',
      interface: 'bridge',
    }));
    for (let i = 0; i < 20; i += 1)
      say({ type: 'devices', router: 'router-1', kind: 'full', first: i === 0, last: i === 19, devices, gone: [] });
    const rows = Array.from({ length: 500 }, (_, i) => ({
      '.id': `*${i}`,
      'dst-address': '10.0.0.0/24',
      gateway: '192.0.2.1',
      comment: 'x'.repeat(60),
    }));
    for (let i = 0; i < 256; i += 1) say({ type: 'rows', id: 1, rows });
    expect(bench.counters.get('tunnel_budget')).toBe(0);
    expect(spent.messages * 10).toBeLessThan(AGENT_BUDGET.messages.burst);
    expect(spent.bytes * 5).toBeLessThan(AGENT_BUDGET.bytes.burst);
  });
});

describe('the time slices of the event loop', () => {
  test('are shared in rotation: work that does not fit waits for a later slice', async () => {
    const clock = new ManualClock();
    const loopTime = new LoopTime(clock);
    const done: string[] = [];
    const waiting = (name: string, pieces: number) => ({
      work: () => {
        done.push(name);
        clock.advance(6);
        pieces -= 1;
        return pieces > 0;
      },
    });
    loopTime.spend(10);
    expect(loopTime.isUsedUp).toBe(true);
    loopTime.wait(waiting('a', 3));
    loopTime.wait(waiting('b', 3));
    loopTime.wait(waiting('c', 1));
    await turn();
    expect(loopTime.isUsedUp).toBe(false);
    expect(done).toEqual(['a', 'b']);
    await turn();
    await turn();
    await turn();
    expect(done.join('')).toBe('abcabab');
  });
});

describe('the memory of incomplete replies', () => {
  const command = { router: 'one', hardware_id: 'HW1', path: '/ip/route/print', words: [] };
  const row = { text: 'x'.repeat(60_000) };
  const batches = (bytes: number): number => Math.ceil(bytes / 60_000);

  test('is bounded per tunnel and released when a request ends', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    const abort = new AbortController();
    const ask = (): Promise<unknown> =>
      bench.registry
        .request(bench.agentId, 'command', command, { timeoutMs: 60_000, signal: abort.signal })
        .catch((error: unknown) => error);
    const asked = [ask(), ask(), ask()];
    const most = Math.floor((0.9 * MAX_REPLY_BYTES) / 60_000);
    for (const id of [1, 2]) for (let i = 0; i < most; i += 1) socket.say({ type: 'rows', id, rows: [row] });
    for (let i = 0; i < batches(UNFINISHED_REPLIES.tunnel) - 2 * most; i += 1) socket.say({ type: 'rows', id: 3, rows: [row] });
    expect(await asked[2]).toMatchObject({ code: 'outcome_unknown', extra: { reason: 'replies_per_tunnel' } });
    expect(socket.last('cancel')).toEqual({ type: 'cancel', id: 3 });
    expect(bench.counters.get('replies_per_tunnel')).toBe(1);
    // Rows that were on their way count for nothing.
    for (let i = 0; i < most; i += 1) socket.say({ type: 'rows', id: 3, rows: [row] });
    abort.abort();
    await Promise.all(asked);
    const kept: unknown[] = [];
    const again = bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 60_000, onRows: (rows) => kept.push(...rows) });
    for (let i = 0; i < most; i += 1) socket.say({ type: 'rows', id: 4, rows: [row] });
    socket.say({ type: 'reply', id: 4, outcome: { ok: true, result: { method: 'command' } } });
    await again;
    expect(kept).toHaveLength(most);
  });

  test('is bounded per team over all its tunnels, and leaves room for another team', async () => {
    const bench = new TunnelBench();
    const fill = async (teamId: string): Promise<unknown> => {
      const { agentId } = bench.sessions.add();
      const socket = bench.connectAs(agentId, teamId);
      socket.say(bench.hello());
      await settle();
      bench.sayReady(socket);
      await settle();
      const ask = (): Promise<unknown> =>
        bench.registry.request(agentId, 'command', command, { timeoutMs: 60_000 }).then(
          () => 'done',
          (error: unknown) => error,
        );
      const asked = [ask(), ask()];
      const most = Math.floor((0.95 * MAX_REPLY_BYTES) / 60_100);
      for (const id of [1, 2]) for (let i = 0; i < most; i += 1) socket.say({ type: 'rows', id, rows: [row] });
      return Promise.race([...asked, settle().then(() => 'waiting')]);
    };
    expect(await fill('greedy')).toBe('waiting');
    expect(await fill('greedy')).toBe('waiting');
    expect(await fill('greedy')).toMatchObject({ code: 'outcome_unknown', extra: { reason: 'replies_per_team' } });
    expect(await fill('neighbour')).toBe('waiting');
  });

  test('is released when a reply stalls for 30 s, before the deadline of its caller', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    const asked = bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 180_000 }).catch((error: unknown) => error);
    bench.clock.advance(20_000);
    socket.say({ type: 'rows', id: 1, rows: [row] });
    bench.clock.advance(20_000);
    socket.say({ type: 'rows', id: 1, rows: [row] });
    for (let waited = 0; waited < 29_000; waited += 1000) {
      socket.bytesRead += 1;
      bench.clock.advance(1000);
    }
    expect(socket.last('cancel')).toBeUndefined();
    bench.clock.advance(1000);
    expect(await asked).toMatchObject({ code: 'outcome_unknown' });
    expect(socket.last('cancel')).toEqual({ type: 'cancel', id: 1 });
    expect(bench.counters.get('reply_stalled')).toBe(1);
  });
});

describe('a log that a peer can fill', () => {
  const recorded = (): { log: Log; lines: (LogFields & { message: string })[] } => {
    const lines: (LogFields & { message: string })[] = [];
    const keep = (fields: LogFields, message: string): void => void lines.push({ ...fields, message });
    const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
    return { log, lines };
  };

  test('contains the first lines about a peer, then one count per minute', () => {
    const clock = new ManualClock();
    const { log, lines } = recorded();
    const sampled = sampledLog(log, clock);
    for (let i = 0; i < 100_000; i += 1) sampled.warn({ agent_id: 'hostile' }, 'unreadable');
    for (let i = 0; i < 100_000; i += 1) sampled.child({ component: 'http' }).warn({ agent_id: `agent-${i}` }, 'unreadable');
    sampled.warn({ agent_id: 'hostile' }, 'another matter');
    expect(lines.filter(({ message, agent_id: id }) => message === 'unreadable' && id === 'hostile')).toHaveLength(3);
    expect(lines).toHaveLength(31);
    clock.advance(60_000);
    expect(lines.at(-1)).toEqual({ count: 200_000 - 30, message: 'more of these in the last minute: unreadable' });
    sampled.warn({ agent_id: 'hostile' }, 'unreadable');
    expect(lines).toHaveLength(33);
  });
});
