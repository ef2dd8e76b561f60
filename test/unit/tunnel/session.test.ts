import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_REPLY_BYTES, MAX_UNSENT_BYTES } from '../../../protocol/index.ts';
import type { JobOffer } from '../../../protocol/index.ts';
import { RecordedEvents } from '../../harness/recorded-events.ts';
import { settle, TunnelBench } from '../../harness/tunnel-bench.ts';
import { eventually } from '../../harness/wait-until.ts';

const JOB_A = 'aaaaaaaa-0000-7000-8000-000000000001';
const JOB_B = 'bbbbbbbb-0000-7000-8000-000000000002';
const RESULT = { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false } as const;
const offer = (jobId: string): JobOffer => ({
  type: 'job.offer',
  job_id: jobId,
  router: 'one',
  hardware_id: 'HW1',
  script: '',
  make_backup: false,
  needs_acknowledgement: true,
  timeout_ms: 1000,
});
const command = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };

describe('opening', () => {
  test('hello is welcomed with the next epoch, and ready announces the connection to the features', async () => {
    const bench = new TunnelBench();
    const socket = await bench.welcomed();
    expect(socket.last('welcome')).toEqual({
      type: 'welcome',
      version: 1,
      agent_id: bench.agentId,
      epoch: 1,
      reset: false,
      settings: { heartbeat_ms: 30_000, silence_ms: 55_000 },
    });
    expect(bench.registry.epoch(bench.agentId)).toBeUndefined();
    bench.sayReady(socket, [{ job_id: JOB_A, state: 'accepted' }]);
    await settle();
    expect(bench.events.story).toEqual(['ready #1 aaaa:accepted']);
    const connection = { agentId: bench.agentId, teamId: 'team', epoch: 1, address: '192.0.2.1', reset: false, routers: ['one'] };
    expect(bench.events.connections).toEqual([connection]);
    expect(bench.registry.epoch(bench.agentId)).toBe(1);
  });

  test.each([
    { case: 'no hello in time', play: async (bench: TunnelBench) => bench.connect(), wait: 10_000, code: 4408, goaway: 'restart' },
    { case: 'no ready in time', play: (bench: TunnelBench) => bench.welcomed(), wait: 30_000, code: 4408, goaway: 'restart' },
    {
      case: 'no version in common',
      play: (bench: TunnelBench) => bench.welcomed({ versions: [9] }),
      wait: 0,
      code: 4426,
      goaway: 'protocol',
    },
  ])('$case: closed with $code', async ({ play, wait, code, goaway }) => {
    const bench = new TunnelBench();
    const socket = await play(bench);
    // Bytes that say nothing keep the link alive, but not the handshake.
    for (let waited = 0; waited < wait; waited += 1000) {
      expect(socket.closed).toBeUndefined();
      socket.bytesRead += 1;
      bench.clock.advance(1000);
    }
    expect(socket.closed).toMatchObject({ code });
    expect(socket.last('goaway')?.reason).toBe(goaway);
    await settle();
    expect([bench.registry.size, bench.clock.pending]).toEqual([0, 0]);
  });

  test('an agent that was revoked in the meantime gets goaway revoked', async () => {
    const bench = new TunnelBench();
    bench.sessions.agents.clear();
    const socket = await bench.welcomed();
    expect(socket.closed).toMatchObject({ code: 4401 });
  });

  test('a hello that cannot be stored makes the agent reconnect soon', async () => {
    const bench = new TunnelBench(new RecordedEvents(), { beginSession: () => Promise.reject(new Error('disk full')) });
    const socket = await bench.welcomed();
    expect(socket.closed).toMatchObject({ code: 4503 });
    expect(socket.last('goaway')).toMatchObject({ reason: 'restart', reconnect_after_ms: 5000 });
  });

  test.each([
    { case: 'another epoch', ready: { epoch: 7 } },
    { case: 'another journal without reset', ready: { journal_id: randomUUID() } },
  ])('ready with $case closes the tunnel', async ({ ready }) => {
    const bench = new TunnelBench();
    const socket = await bench.welcomed();
    socket.say({ type: 'ready', epoch: 1, journal_id: bench.journalId, jobs: [], ...ready });
    await settle();
    expect(socket.closed).toMatchObject({ code: 4400 });
    expect(bench.events.story).toEqual([]);
  });

  test('a wiped disk causes a reset: a fresh journal is required, and the list of jobs counts as empty', async () => {
    const bench = new TunnelBench();
    await bench.ready();
    const stubborn = await bench.welcomed({ journal_id: JOB_A, last_epoch: 0 });
    expect(stubborn.last('welcome')?.reset).toBe(true);
    bench.sayReady(stubborn, [], JOB_A);
    await settle();
    expect(stubborn.closed).toMatchObject({ code: 4400 });
    const obedient = await bench.welcomed({ journal_id: JOB_A, last_epoch: 0 });
    bench.sayReady(obedient, [{ job_id: JOB_B, state: 'accepted' }], JOB_B);
    await settle();
    expect(bench.events.story.at(-1)).toBe('ready #3');
    expect(bench.events.connections.at(-1)).toMatchObject({ epoch: 3, reset: true });
  });

  test('a second hello, a second ready and events before ready are ignored and counted', async () => {
    const bench = new TunnelBench();
    const socket = await bench.welcomed();
    socket.say(bench.hello());
    socket.say({ type: 'heartbeat', routers: [] });
    socket.say({ type: 'job.accepted', job_id: JOB_A });
    bench.sayReady(socket);
    bench.sayReady(socket);
    await settle();
    expect(bench.events.lines).toEqual(['ready #1']);
    expect(socket.session?.ignored).toBe(4);
    expect(socket.closed).toBeUndefined();
  });

  test('messages that directly follow ready are not lost', async () => {
    const bench = new TunnelBench();
    const socket = await bench.welcomed();
    bench.sayReady(socket);
    socket.say({ type: 'heartbeat', routers: [] });
    socket.say({ type: 'job.ended', job_id: JOB_A, result: RESULT });
    await settle();
    expect(bench.events.lines).toHaveLength(3);
    expect(bench.events.lines[0]).toBe('ready #1');
  });
});

describe('the newest connection of an agent wins', () => {
  test('the older one gets goaway replaced, and has ended before the newer one is ready', async () => {
    const bench = new TunnelBench();
    const older = await bench.ready();
    const newer = await bench.ready();
    expect(older.last('goaway')?.reason).toBe('replaced');
    expect(older.closed).toMatchObject({ code: 4409 });
    expect(newer.closed).toBeUndefined();
    expect(bench.events.story).toEqual(['ready #1', 'gone #1', 'ready #2']);
    expect(bench.registry.epoch(bench.agentId)).toBe(2);
  });

  test('an agent that comes back before its last words are stored is ready only after the older connection is gone', async () => {
    const stored = Promise.withResolvers<void>();
    const bench = new TunnelBench(new RecordedEvents({ onJobEnded: () => stored.promise }));
    const older = await bench.ready();
    older.say({ type: 'job.ended', job_id: JOB_A, result: RESULT });
    await settle();
    older.session?.onClosed();
    await settle();
    await bench.ready();
    expect(bench.events.story.filter((line) => /^(?:ready|gone)/.test(line))).toEqual(['ready #1']);
    stored.resolve();
    await settle();
    expect(bench.events.story.filter((line) => /^(?:ready|gone)/.test(line))).toEqual(['ready #1', 'gone #1', 'ready #2']);
  });

  test('of two hellos the one with the lower epoch loses, in any order of responses', async () => {
    const answers: (() => void)[] = [];
    const bench = new TunnelBench();
    const { beginSession } = bench.callbacks;
    bench.callbacks.beginSession = async (begin) => {
      const begun = await beginSession(begin);
      await new Promise<void>((resolve) => answers.push(resolve));
      return begun;
    };
    const first = await bench.welcomed();
    const second = await bench.welcomed();
    answers[1]?.();
    await settle();
    answers[0]?.();
    await settle();
    expect(first.closed).toMatchObject({ code: 4409 });
    expect(first.last('welcome')).toBeUndefined();
    expect(second.last('welcome')?.epoch).toBe(2);
  });

  test('an epoch that another node has exceeded is not confirmed', async () => {
    const bench = new TunnelBench();
    const socket = await bench.welcomed();
    bench.sessions.agents.get(bench.agentId)!.epoch = 9;
    bench.sayReady(socket);
    await settle();
    expect(socket.closed).toMatchObject({ code: 4409 });
    expect(bench.events.story).toEqual([]);
  });
});

describe('job messages', () => {
  test('are handled one after the other; heartbeats and replies do not wait for them', async () => {
    const gate = Promise.withResolvers<void>();
    const bench = new TunnelBench(new RecordedEvents({ onJobAccepted: () => gate.promise }));
    const socket = await bench.ready();
    const answer = bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 1000 });
    socket.say({ type: 'job.accepted', job_id: JOB_A });
    socket.say({ type: 'job.began', job_id: JOB_A });
    socket.say({ type: 'job.began', job_id: JOB_B });
    socket.say({ type: 'heartbeat', routers: [{ name: 'one', reachable: true, uptime_seconds: 1, reason: null }] });
    socket.say({ type: 'inventory', router: 'one', facts: facts() });
    socket.say({ type: 'reply', id: 1, outcome: { ok: true, result: { method: 'command' } } });
    expect(await answer).toEqual({});
    await settle();
    expect(bench.events.lines).toEqual(['ready #1', 'heartbeat #1 one=up', 'accepted #1 aaaa', 'inventory #1 one']);
    gate.resolve();
    await settle();
    expect(bench.events.lines.slice(4)).toEqual(['began #1 aaaa', 'began #1 bbbb']);
  });

  test('no offer is sent before the list is reconciled; go and ack may be', async () => {
    const gate = Promise.withResolvers<void>();
    const bench = new TunnelBench(new RecordedEvents({ onReady: () => gate.promise }));
    const socket = await bench.ready();
    expect(bench.registry.notify(bench.agentId, offer(JOB_A))).toBe(true);
    expect(bench.registry.notify(bench.agentId, { type: 'job.go', job_id: JOB_B })).toBe(true);
    expect(socket.types()).toEqual(['welcome', 'job.go']);
    gate.resolve();
    await settle();
    expect(socket.types()).toEqual(['welcome', 'job.go', 'job.offer']);
  });

  test('are handled before the end is recorded when received before it', async () => {
    const gate = Promise.withResolvers<void>();
    const ends: string[] = [];
    const bench = new TunnelBench(new RecordedEvents({ onJobAccepted: () => gate.promise }), {
      endSession: async (_agentId, epoch) => {
        ends.push(`end ${epoch}`);
      },
    });
    const socket = await bench.ready();
    socket.say({ type: 'job.accepted', job_id: JOB_A });
    socket.say({ type: 'job.ended', job_id: JOB_A, result: RESULT });
    socket.session?.onClosed();
    await settle();
    expect(ends).toEqual([]);
    gate.resolve();
    await socket.session?.ended;
    expect(bench.events.story).toEqual(['ready #1', 'accepted #1 aaaa', 'ended #1 aaaa completed', 'gone #1']);
    expect(ends).toEqual(['end 1']);
  });

  test('one that cannot be stored closes the tunnel, so that the agent repeats it', async () => {
    const bench = new TunnelBench(new RecordedEvents({ onJobEnded: () => Promise.reject(new Error('disk full')) }));
    const socket = await bench.ready();
    socket.say({ type: 'job.ended', job_id: JOB_A, result: RESULT });
    await settle();
    expect(socket.closed).toMatchObject({ code: 4503 });
    expect(bench.events.story.at(-1)).toBe('gone #1');
  });

  test.each([
    ['letters', 'x'.repeat(60_000)],
    ['text of three bytes a character', '漢'.repeat(20_000)],
  ])('more than can be stored stops the reading until half of it is done: %s', async (_, output) => {
    const gate = Promise.withResolvers<void>();
    const bench = new TunnelBench(new RecordedEvents({ onJobEnded: () => gate.promise }));
    const socket = await bench.ready();
    const result = { ...RESULT, output };
    for (let i = 0; i < 20; i += 1) socket.say({ type: 'job.ended', job_id: JOB_A, result });
    expect(socket.paused).toBe(true);
    // Silence of a peer that is not read is not death.
    bench.clock.advance(500_000);
    expect(socket.closed).toBeUndefined();
    gate.resolve();
    await eventually(() => expect(socket.paused).toBe(false));
  });
});

describe('a request', () => {
  async function asked(timeoutMs = 1000, extra: { signal?: AbortSignal } = {}) {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    const rows: unknown[] = [];
    const answer = bench.registry.request(bench.agentId, 'command', command, {
      timeoutMs,
      onRows: (batch) => rows.push(...batch),
      ...extra,
    });
    const outcome = answer.then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    await settle();
    return { bench, socket, rows, outcome, id: socket.last('request')?.id ?? 0 };
  }

  test('carries slightly less time than its caller has', async () => {
    const { socket } = await asked(10_000);
    expect(socket.last('request')).toMatchObject({ remaining_ms: 9750, method: 'command', params: command });
    expect((await asked(100)).socket.last('request')).toMatchObject({ remaining_ms: 90 });
  });

  test('collects its rows in order', async () => {
    const { socket, rows, outcome, id } = await asked();
    socket.say({ type: 'rows', id, rows: [{ a: '1' }, { a: '2' }] });
    socket.say({ type: 'rows', id, rows: [{ a: '3' }] });
    socket.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'command', ret: 'x' } } });
    expect(await outcome).toEqual({ result: { ret: 'x' } });
    expect(rows).toEqual([{ a: '1' }, { a: '2' }, { a: '3' }]);
  });

  test.each([
    {
      case: 'its deadline passes',
      end: ({ bench }: Awaited<ReturnType<typeof asked>>) => bench.clock.advance(1000),
      code: 'outcome_unknown',
      cancelled: true,
    },
    {
      case: 'the tunnel breaks',
      end: ({ socket }: Awaited<ReturnType<typeof asked>>) => socket.session?.onClosed(),
      code: 'outcome_unknown',
      cancelled: false,
    },
    {
      case: 'its answer cannot be read',
      code: 'outcome_unknown',
      cancelled: true,
      end: ({ socket, id }: Awaited<ReturnType<typeof asked>>) => socket.sayText(JSON.stringify({ type: 'reply', id, outcome: {} })),
    },
    {
      case: 'its rows cannot be read',
      code: 'outcome_unknown',
      cancelled: true,
      end: ({ socket, id }: Awaited<ReturnType<typeof asked>>) => socket.sayText(JSON.stringify({ type: 'rows', id, rows: [1] })),
    },
    {
      case: 'the answer is one to another method',
      code: 'outcome_unknown',
      cancelled: true,
      end: ({ socket, id }: Awaited<ReturnType<typeof asked>>) =>
        socket.say({ type: 'reply', id, outcome: { ok: true, result: { method: 'forward.close' } } }),
    },
    {
      case: 'the rows are too many',
      code: 'too_large',
      cancelled: true,
      end: ({ socket, id }: Awaited<ReturnType<typeof asked>>) => {
        const rows = [{ a: 'x'.repeat(900_000) }];
        for (let bytes = 0; bytes <= MAX_REPLY_BYTES; bytes += 900_000) socket.say({ type: 'rows', id, rows });
      },
    },
    {
      // A third as many characters as bytes: the limit is one of bytes.
      case: 'the rows are too many bytes of text beyond ASCII',
      code: 'too_large',
      cancelled: true,
      end: ({ socket, id }: Awaited<ReturnType<typeof asked>>) => {
        const rows = [{ a: '漢'.repeat(300_000) }];
        for (let bytes = 0; bytes <= MAX_REPLY_BYTES; bytes += 900_000) socket.say({ type: 'rows', id, rows });
      },
    },
  ])('ends with $code when $case', async ({ end, code, cancelled }) => {
    const request = await asked();
    end(request);
    expect(await request.outcome).toMatchObject({ error: { code } });
    expect(request.socket.types().includes('cancel')).toBe(cancelled);
    // A late answer finds nothing, and the tunnel is still there unless it broke.
    request.socket.say({ type: 'reply', id: request.id, outcome: { ok: true, result: { method: 'command' } } });
    expect(request.socket.closed).toBeUndefined();
  });

  test("is abandoned when its caller's signal aborts", async () => {
    const abort = new AbortController();
    const { socket, outcome, id } = await asked(1000, { signal: abort.signal });
    abort.abort();
    expect(await outcome).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(socket.last('cancel')).toEqual({ type: 'cancel', id });
  });

  test.each([
    {
      reply: { code: 'rejected', message: 'no such item', category: 0 },
      error: { code: 'rejected_by_router', message: 'no such item', extra: { category: 0 } },
    },
    { reply: { code: 'router_unreachable', message: 'm' }, error: { code: 'router_unreachable', extra: undefined } },
    { reply: { code: 'outcome_unknown', message: 'm' }, error: { code: 'outcome_unknown' } },
    { reply: { code: 'not_allowed', message: 'm' }, error: { code: 'invalid', extra: { reason: 'not_allowed' } } },
    { reply: { code: 'invalid', message: 'm' }, error: { code: 'invalid', extra: undefined } },
    { reply: { code: 'unsupported', message: 'm' }, error: { code: 'invalid', extra: { reason: 'unsupported' } } },
    { reply: { code: 'wrong_router', message: 'm' }, error: { code: 'router_unreachable', extra: { reason: 'wrong_router' } } },
    { reply: { code: 'internal', message: 'm' }, error: { code: 'internal' } },
  ] as const)('$reply.code becomes $error.code', async ({ reply, error }) => {
    const { socket, outcome, id } = await asked();
    socket.say({ type: 'reply', id, outcome: { ok: false, error: reply } });
    expect(await outcome).toMatchObject({ error });
  });

  test('is not sent when it is too large, or the tunnel is congested or closed', async () => {
    const { bench, socket } = await asked();
    const ask = (params = command) => bench.registry.request(bench.agentId, 'command', params, { timeoutMs: 1000 });
    await expect(ask({ ...command, words: ['x'.repeat(2_000_000)] as never[] })).rejects.toMatchObject({ code: 'too_large' });
    socket.bufferedAmount = MAX_UNSENT_BYTES + 1;
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
    expect(bench.registry.notify(bench.agentId, offer(JOB_A))).toBe(false);
    socket.session?.onClosed();
    await expect(ask()).rejects.toMatchObject({ code: 'agent_offline' });
    expect(socket.types().filter((type) => type === 'request')).toHaveLength(1);
  });
});

describe('a peer that gets it wrong', () => {
  test.each([
    { what: 'not JSON', text: 'EHLO' },
    { what: 'no type', text: '{}' },
    { what: 'a hello that cannot be read', text: '{"type":"hello"}' },
    { what: 'a ready that cannot be read', text: '{"type":"ready"}' },
  ])('$what: goaway protocol, closed with 4400', async ({ text }) => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    socket.sayText(text);
    expect(socket.last('goaway')?.reason).toBe('protocol');
    expect(socket.closed).toMatchObject({ code: 4400 });
  });

  test.each([
    '{"type":"telemetry"}',
    '{"type":"heartbeat"}',
    '{"type":"job.ended","job_id":1}',
    '{"type":"reply","id":99}',
    '{"type":"rows","id":99,"rows":[]}',
  ])('%s does not end the tunnel', async (text) => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    socket.sayText(text);
    await settle();
    expect(socket.closed).toBeUndefined();
    expect(bench.registry.epoch(bench.agentId)).toBe(1);
  });

  test('a binary message closes the tunnel', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    socket.session?.onBinary();
    expect(socket.closed).toMatchObject({ code: 4400 });
  });

  test('two silent periods end the tunnel and notify the features', async () => {
    const bench = new TunnelBench();
    const socket = await bench.ready();
    bench.clock.advance(22_500);
    expect([socket.pings, socket.closed]).toEqual([1, undefined]);
    bench.clock.advance(45_000);
    expect(socket.closed).toBe('terminated');
    await settle();
    expect(bench.events.story).toEqual(['ready #1', 'gone #1']);
  });
});

test('at shutdown every agent gets goaway with its own pause, and the ends are recorded', async () => {
  const ends: number[] = [];
  const bench = new TunnelBench(new RecordedEvents(), {
    endSession: async (_agentId, epoch) => {
      ends.push(epoch);
    },
  });
  const socket = await bench.ready();
  const waiting = bench.connect();
  await bench.registry.close();
  expect(socket.last('goaway')).toEqual({ type: 'goaway', reason: 'restart', reconnect_after_ms: 5000 });
  expect(waiting.closed).toMatchObject({ code: 4503 });
  expect(ends).toEqual([1]);
  expect(bench.clock.pending).toBe(0);
  expect(bench.connect().closed).toMatchObject({ code: 4503 });
});

test('any messages in any order leave nothing behind after the end', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      'hello',
      'ready',
      'heartbeat',
      'accepted',
      'ended',
      'inventory',
      'rows',
      'reply',
      'refused reply',
      'garbage',
      'request',
      'time',
      'goaway',
      'close',
    ),
    fc.constantFrom('ready', 'reply', 'request'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 25 }), async (script) => {
      const bench = new TunnelBench();
      const socket = bench.connect();
      const outcomes: Promise<unknown>[] = [];
      let id = 0;
      const play: Record<string, () => void> = {
        hello: () => socket.say(bench.hello()),
        ready: () => bench.sayReady(socket),
        heartbeat: () => socket.say({ type: 'heartbeat', routers: [] }),
        accepted: () => socket.say({ type: 'job.accepted', job_id: JOB_A }),
        ended: () => socket.say({ type: 'job.ended', job_id: JOB_A, result: RESULT }),
        inventory: () => socket.say({ type: 'inventory', router: 'one', facts: facts() }),
        rows: () => socket.say({ type: 'rows', id: Math.max(1, id), rows: [{}] }),
        reply: () => socket.say({ type: 'reply', id: (id += 1), outcome: { ok: true, result: { method: 'command' } } }),
        'refused reply': () =>
          socket.say({ type: 'reply', id: (id += 1), outcome: { ok: false, error: { code: 'internal', message: '' } } }),
        garbage: () => socket.sayText('!'),
        request: () => outcomes.push(bench.registry.request(bench.agentId, 'command', command, { timeoutMs: 500 }).catch(() => 'failed')),
        time: () => bench.clock.advance(400),
        goaway: () => socket.say({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 }),
        close: () => socket.session?.onClosed(),
      };
      for (const step of ['hello', ...script]) {
        play[step]?.();
        await settle();
      }
      socket.session?.onClosed();
      await socket.session?.ended;
      await Promise.all(outcomes);
      expect([bench.registry.size, bench.clock.pending]).toEqual([0, 0]);
      const { story } = bench.events;
      expect(story.filter((told) => told.startsWith('gone'))).toHaveLength(story.filter((told) => told.startsWith('ready')).length);
    }),
    { numRuns: 150 },
  );
});

function facts() {
  return {
    hardware_id: 'HW1',
    serial_number: null,
    software_id: null,
    identity: 'one',
    software_version: '7.18.2',
    model: null,
    board_name: 'CHR',
    hardware_board: false,
    architecture: null,
    time_zone: null,
    uptime: '1s',
    uptime_seconds: 1,
  };
}

test('cleaned text from routers is counted each time and logged once', async () => {
  const bench = new TunnelBench();
  const socket = await bench.ready();
  const report = {
    type: 'devices' as const,
    router: 'one',
    kind: 'delta' as const,
    first: false,
    last: false,
    gone: [],
    devices: [{ mac: 'AA:00:00:00:00:01', hostname: 'ca\0mera' }],
  };
  socket.say(report);
  socket.say(report);
  await settle();
  expect(bench.counters.cleanedMessages).toBe(2);
  expect(socket.closed).toBeUndefined();
});
