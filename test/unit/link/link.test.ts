import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { AgentLink } from '../../../agent/link/link.ts';
import type { JobHandlers, LinkHost, RequestContext, RequestHandlers } from '../../../agent/link/types.ts';
import { MAX_UNSENT_BYTES } from '../../../protocol/index.ts';
import type { OpenJob } from '../../../protocol/index.ts';
import { FakeDialer } from '../../harness/fake-link-socket.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';
import { settle } from '../../harness/tunnel-bench.ts';

const JOB_A = 'aaaaaaaa-0000-7000-8000-000000000001';
const JOB_B = 'bbbbbbbb-0000-7000-8000-000000000002';
const FORWARD = 'ffffffff-0000-7000-8000-00000000000f';
const command = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };
const never = (): Promise<never> => new Promise(() => undefined);

class Bench {
  readonly clock = new ManualClock();
  readonly dialer = new FakeDialer();
  readonly log: string[] = [];
  readonly logged = new RecordedLog();
  readonly link: AgentLink;
  journalId: string = randomUUID();
  lastEpoch = 0;
  openJobs: OpenJob[] = [];
  adopt: LinkHost['adopt'] = async ({ epoch, reset }) => {
    this.lastEpoch = epoch;
    if (reset) this.journalId = randomUUID();
    return { journalId: this.journalId, jobs: this.openJobs };
  };
  handlers: RequestHandlers = {
    command: never,
    'forward.open': never,
    'forward.close': never,
    'backup.take': never,
    'backup.read': never,
    'backup.remove': never,
    'terminal.open': never,
    'terminal.close': never,
  };
  jobHandler: (what: keyof JobHandlers, id: string) => Promise<void> = async () => undefined;

  constructor(random = 0.5) {
    this.link = new AgentLink({ dialer: this.dialer, host: this.#host(), clock: this.clock, random: () => random, log: this.logged });
  }

  get socket() {
    return this.dialer.socket;
  }

  async start(): Promise<this> {
    this.link.start();
    await settle();
    return this;
  }

  async ready(): Promise<this> {
    await this.start();
    this.socket.welcome();
    await settle();
    return this;
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settle();
  }

  #host(): LinkHost {
    const job =
      (what: keyof JobHandlers) =>
      async (value: string | { job_id: string }): Promise<void> => {
        const id = typeof value === 'string' ? value : value.job_id;
        this.log.push(`${what} ${id.slice(0, 4)}`);
        await this.jobHandler(what, id);
      };
    return {
      hello: () => ({ agent_version: '1.0.0', journal_id: this.journalId, last_epoch: this.lastEpoch, routers: ['one'] }),
      adopt: (welcome) => this.adopt(welcome),
      onReady: (epoch) => this.log.push(`ready #${epoch}`),
      onDown: () => this.log.push('down'),
      heartbeats: () => [{ name: 'one', reachable: true, uptime_seconds: 1, reason: null }],
      requests: {
        command: (params, context) => this.handlers.command(params, context),
        'forward.open': (params, context) => this.handlers['forward.open'](params, context),
        'forward.close': (params, context) => this.handlers['forward.close'](params, context),
        'backup.take': (params, context) => this.handlers['backup.take'](params, context),
        'backup.read': (params, context) => this.handlers['backup.read'](params, context),
        'backup.remove': (params, context) => this.handlers['backup.remove'](params, context),
        'terminal.open': (params, context) => this.handlers['terminal.open'](params, context),
        'terminal.close': (params, context) => this.handlers['terminal.close'](params, context),
      },
      jobs: { onOffer: job('onOffer'), onGo: job('onGo'), onAck: job('onAck'), onRevoke: job('onRevoke') },
      onRevoked: () => this.log.push('revoked'),
      onTerminalResize: ({ cols, rows }) => this.log.push(`resize ${cols}x${rows}`),
      onChannelDial: (forwardId, count) => this.log.push(`dial ${forwardId.slice(0, 4)} x${count}`),
    };
  }
}

const request = (id: number, remainingMs = 1000) =>
  ({ type: 'request', id, remaining_ms: remainingMs, method: 'command', params: command }) as const;

describe('opening', () => {
  test('sends hello, and ready only once the epoch is on disk', async () => {
    const bench = new Bench();
    const disk = Promise.withResolvers<void>();
    const { adopt } = bench;
    bench.adopt = async (welcome) => {
      await disk.promise;
      return adopt(welcome);
    };
    await bench.start();
    expect(bench.socket.sent).toEqual([
      { type: 'hello', versions: [1], agent_version: '1.0.0', journal_id: bench.journalId, last_epoch: 0, routers: ['one'] },
    ]);
    bench.socket.welcome({ epoch: 4 });
    await settle();
    expect(bench.socket.types()).toEqual(['hello']);
    expect(bench.link.send({ type: 'job.accepted', job_id: JOB_A })).toBe(false);
    disk.resolve();
    await settle();
    expect(bench.socket.last('ready')).toEqual({ type: 'ready', epoch: 4, journal_id: bench.journalId, jobs: [] });
    expect(bench.socket.types()).toEqual(['hello', 'ready', 'heartbeat']);
    expect(bench.log).toEqual(['ready #4']);
    expect(bench.link.epoch).toBe(4);
  });

  test('starts a journal with a new id after a reset', async () => {
    const bench = new Bench();
    const old = bench.journalId;
    await bench.start();
    bench.socket.welcome({ reset: true });
    await settle();
    expect(bench.socket.last('ready')?.journal_id).not.toBe(old);
  });

  test('sends no ready and retries later when the epoch cannot be stored', async () => {
    const bench = new Bench();
    bench.adopt = () => Promise.reject(new Error('disk full'));
    await bench.ready();
    expect(bench.socket.types()).toEqual(['hello']);
    expect(bench.socket.closed).toBe(4503);
    await bench.advance(1000);
    expect(bench.dialer.dials).toBe(2);
  });

  test('cuts and dials again without a welcome in 10 s', async () => {
    const bench = await new Bench().start();
    await bench.advance(10_000);
    expect(bench.dialer.sockets[0]?.closed).toBe('terminated');
    await bench.advance(500);
    expect(bench.dialer.dials).toBe(2);
  });
});

describe('reconnecting', () => {
  test('pauses grow while the server does not answer, and reset only after a stable tunnel', async () => {
    const bench = new Bench();
    bench.dialer.refuse = 'unreachable';
    await bench.start();
    for (const [pause, dials] of [
      [500, 2],
      [1000, 3],
      [2000, 4],
    ] as const) {
      await bench.advance(pause - 1);
      expect(bench.dialer.dials).toBe(dials - 1);
      await bench.advance(1);
      expect(bench.dialer.dials).toBe(dials);
    }
    bench.dialer.refuse = undefined;
    await bench.advance(4000);
    bench.socket.welcome();
    await settle();
    // Every check of the link finds new bytes.
    for (let i = 0; i < 4; i += 1) {
      bench.socket.bytesRead += 1;
      await bench.advance(10_000);
    }
    bench.socket.terminate();
    await settle();
    await bench.advance(500);
    expect(bench.dialer.dials).toBe(6);
  });

  test.each([
    { lasted: 30_000, step: -3_600_000, pause: 500 },
    { lasted: 10_000, step: 3_600_000, pause: 2000 },
  ])('a tunnel of $lasted ms counts as such when the clock is set by $step ms meanwhile', async ({ lasted, step, pause }) => {
    const bench = new Bench();
    bench.dialer.refuse = 'unreachable';
    await bench.start();
    await bench.advance(500);
    bench.dialer.refuse = undefined;
    await bench.advance(1000);
    bench.socket.welcome();
    await settle();
    bench.clock.step(step);
    await bench.advance(lasted);
    bench.socket.terminate();
    await settle();
    await bench.advance(pause - 1);
    expect(bench.dialer.dials).toBe(3);
    await bench.advance(1);
    expect(bench.dialer.dials).toBe(4);
  });

  test('the agent dials again after the pause in goaway', async () => {
    const bench = await new Bench().ready();
    bench.socket.say({ type: 'goaway', reason: 'restart', reconnect_after_ms: 3000 });
    bench.socket.close(1000);
    await settle();
    await bench.advance(3499);
    expect(bench.dialer.dials).toBe(1);
    await bench.advance(1);
    expect(bench.dialer.dials).toBe(2);
  });

  test('a connection that stays open after goaway is cut after 5 s', async () => {
    const bench = await new Bench().ready();
    bench.socket.say({ type: 'goaway', reason: 'replaced', reconnect_after_ms: 0 });
    await bench.advance(5000);
    expect(bench.socket.closed).toBe('terminated');
  });

  test("a revocation is reported to the agent's features, and again by every refused dial in case it was lost", async () => {
    const bench = await new Bench().ready();
    bench.socket.say({ type: 'goaway', reason: 'revoked', reconnect_after_ms: 0 });
    expect(bench.log).toEqual(['ready #1', 'revoked']);
    bench.socket.terminate();
    bench.dialer.refuse = 'unreachable';
    await bench.advance(500);
    expect(bench.log).toEqual(['ready #1', 'revoked', 'down']);
    bench.dialer.refuse = 'unauthorized';
    await bench.advance(1000);
    expect(bench.log.slice(3)).toEqual(['revoked']);
  });

  test('two silent checks end the tunnel; any byte prevents it', async () => {
    const bench = await new Bench().ready();
    for (let i = 0; i < 5; i += 1) {
      await bench.advance(30_000);
      bench.socket.bytesRead += 1;
    }
    expect(bench.socket.closed).toBeUndefined();
    await bench.advance(90_000);
    expect(bench.dialer.sockets[0]?.closed).toBe('terminated');
    expect(bench.log).toContain('down');
  });
});

describe('the log', () => {
  const away = 'no connection to the control plane';
  const still = 'still no connection to the control plane';
  const connected = 'connected to the control plane';

  test('reports once that the control plane is unreachable and once that it is back, without a stack', async () => {
    const bench = new Bench();
    bench.dialer.refuse = 'unreachable';
    await bench.start();
    for (let second = 0; second < 60; second += 1) await bench.advance(1000);
    expect(bench.dialer.dials).toBeGreaterThan(5);
    expect(bench.logged.take()).toEqual([{ level: 'warn', message: away, reason: 'refused by the test' }]);
    bench.dialer.refuse = undefined;
    await bench.advance(30_000);
    bench.socket.welcome();
    await settle();
    expect(bench.logged.take()).toEqual([{ level: 'info', message: connected, epoch: 1, away_seconds: 90 }]);
  });

  test('does not count a connection that never became ready as being back', async () => {
    const bench = await new Bench().start();
    bench.socket.close(1006);
    await settle();
    expect(bench.logged.take()).toEqual([{ level: 'warn', message: away, reason: 'the connection broke' }]);
    await bench.advance(500);
    bench.socket.close(4408);
    await settle();
    expect(bench.logged.take()).toEqual([
      { level: 'info', message: still, reason: 'the control plane closed the connection (4408)', away_seconds: 1 },
    ]);
    await bench.advance(1000);
    bench.socket.close(4408);
    await settle();
    expect(bench.logged.take()).toEqual([]);
  });

  test.each([
    { how: 'broke', end: (bench: Bench) => bench.socket.close(1006), reason: 'the connection broke' },
    { how: 'was closed', end: (bench: Bench) => bench.socket.close(4409), reason: 'the control plane closed the connection (4409)' },
    { how: 'was said goodbye', end: goodbye, reason: 'the control plane sent goaway: restart' },
    { how: 'went silent', end: (bench: Bench) => bench.clock.advance(90_000), reason: 'the control plane is silent' },
  ])('names why a tunnel ended that $how', async ({ end, reason }) => {
    const bench = await new Bench().ready();
    expect(bench.logged.take()).toEqual([{ level: 'info', message: connected, epoch: 1 }]);
    end(bench);
    await settle();
    expect(bench.logged.take()).toEqual([{ level: 'warn', message: away, reason }]);
  });

  test('does not mention an intended end', async () => {
    const bench = await new Bench().ready();
    bench.logged.take();
    await bench.link.stop(1000);
    expect(bench.logged.take()).toEqual([]);
  });
});

function goodbye(bench: Bench): void {
  bench.socket.say({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 });
  bench.socket.close(1000);
}

describe('heartbeats', () => {
  test("come at once, at the server's interval, and when a router changes", async () => {
    const bench = await new Bench().ready();
    const heartbeatCount = () => bench.socket.types().filter((type) => type === 'heartbeat').length;
    expect(heartbeatCount()).toBe(1);
    await bench.advance(29_999);
    expect(heartbeatCount()).toBe(1);
    await bench.advance(1);
    expect(heartbeatCount()).toBe(2);
    bench.link.sendHeartbeat([{ name: 'one', reachable: false, uptime_seconds: null, reason: 'timed out' }]);
    expect(bench.socket.last('heartbeat')?.routers).toEqual([{ name: 'one', reachable: false, uptime_seconds: null, reason: 'timed out' }]);
  });
});

describe('requests', () => {
  test('are answered with rows and a result', async () => {
    const bench = await new Bench().ready();
    bench.handlers.command = async (_params, { sendRows }) => {
      await sendRows([{ a: '1' }]);
      return { ret: '*1' };
    };
    bench.socket.say(request(7));
    await settle();
    expect(bench.socket.sent.slice(3)).toEqual([
      { type: 'rows', id: 7, rows: [{ a: '1' }] },
      { type: 'reply', id: 7, outcome: { ok: true, result: { method: 'command', ret: '*1' } } },
    ]);
  });

  test.each([
    {
      error: new AgentError('rejected', 'no such item', { category: 0 }),
      reply: { code: 'rejected', message: 'no such item', category: 0 },
    },
    { error: new AgentError('router_unreachable', 'no route'), reply: { code: 'router_unreachable', message: 'no route' } },
    { error: new AgentError('rejected', 'odd', { category: 99 }), reply: { code: 'rejected', message: 'odd' } },
    { error: new AgentError('invalid', 'x'.repeat(5000)), reply: { code: 'invalid', message: 'x'.repeat(4096) } },
    { error: new TypeError('a secret in a message'), reply: { code: 'internal', message: 'the agent failed on this request' } },
  ])('$error.message fails as $reply.code', async ({ error, reply }) => {
    const bench = await new Bench().ready();
    bench.handlers.command = () => Promise.reject(error);
    bench.socket.say(request(7));
    await settle();
    expect(bench.socket.last('reply')).toEqual({ type: 'reply', id: 7, outcome: { ok: false, error: reply } });
  });

  test.each([
    { how: 'at the deadline', end: (bench: Bench) => bench.clock.advance(1000) },
    { how: 'by cancel', end: (bench: Bench) => bench.socket.say({ type: 'cancel', id: 7 }) },
    { how: 'with the tunnel', end: (bench: Bench) => bench.socket.terminate() },
  ])('are aborted $how', async ({ end }) => {
    const bench = await new Bench().ready();
    let context: RequestContext | undefined;
    bench.handlers.command = (_params, given) => {
      context = given;
      return never();
    };
    bench.socket.say(request(7));
    await settle();
    expect(context).toMatchObject({ timeoutMs: 1000, signal: { aborted: false } });
    end(bench);
    await settle();
    expect(context?.signal.aborted).toBe(true);
  });

  test('wait with their rows while the network is slow', async () => {
    const bench = await new Bench().ready();
    bench.handlers.command = async (_params, { sendRows }) => {
      await sendRows(Array.from({ length: 5 }, () => ({ a: 'x'.repeat(60_000) })));
      return {};
    };
    bench.socket.slow = true;
    bench.socket.bufferedAmount = 300_000;
    bench.socket.say(request(7));
    await settle();
    const batches = () => bench.socket.types().filter((type) => type === 'rows').length;
    expect(batches()).toBe(1);
    bench.socket.unsent.shift()?.();
    await settle();
    expect(batches()).toBe(2);
    bench.socket.bufferedAmount = 0;
    bench.socket.unsent.shift()?.();
    await settle();
    expect(batches()).toBe(5);
    expect(bench.socket.last('reply')?.outcome.ok).toBe(true);
  });

  test('end when their caller cancels while they wait for the network', async () => {
    const bench = await new Bench().ready();
    bench.handlers.command = async (_params, { sendRows }) => {
      await sendRows(Array.from({ length: 5 }, () => ({ a: 'x'.repeat(60_000) })));
      return {};
    };
    bench.socket.slow = true;
    bench.socket.bufferedAmount = 300_000;
    bench.socket.say(request(7));
    await settle();
    bench.socket.say({ type: 'cancel', id: 7 });
    await settle();
    expect(bench.socket.last('reply')?.outcome).toMatchObject({ ok: false, error: { code: 'outcome_unknown' } });
  });

  test('with a row too large for any message fail, and the tunnel continues', async () => {
    const bench = await new Bench().ready();
    bench.handlers.command = async (_params, { sendRows }) => {
      await sendRows([{ a: 'x'.repeat(2_000_000) }]);
      return {};
    };
    bench.socket.say(request(7));
    await settle();
    expect(bench.socket.last('reply')?.outcome).toMatchObject({ ok: false, error: { code: 'unsupported' } });
    expect(bench.socket.closed).toBeUndefined();
  });

  test('that are invalid are refused by their id', async () => {
    const bench = await new Bench().ready();
    bench.socket.sayText('{"type":"request","id":5,"remaining_ms":1000,"method":"dance","params":{}}');
    expect(bench.socket.last('reply')).toMatchObject({ id: 5, outcome: { ok: false, error: { code: 'invalid' } } });
    expect(bench.socket.closed).toBeUndefined();
  });
});

describe('job messages', () => {
  test('reach the host one after another; requests do not wait for them', async () => {
    const bench = await new Bench().ready();
    const gate = Promise.withResolvers<void>();
    bench.jobHandler = () => gate.promise;
    bench.handlers.command = async () => ({});
    bench.socket.say({
      type: 'job.offer',
      job_id: JOB_A,
      router: 'one',
      hardware_id: 'HW1',
      script: '',
      make_backup: false,
      needs_acknowledgement: true,
      timeout_ms: 1,
    });
    bench.socket.say({ type: 'job.go', job_id: JOB_A });
    bench.socket.say({ type: 'job.revoke', job_id: JOB_B });
    bench.socket.say({ type: 'job.ack', job_id: JOB_B });
    bench.socket.say({ type: 'channel.dial', forward_id: FORWARD, count: 3 });
    bench.socket.say(request(1));
    await settle();
    expect(bench.log).toEqual(['ready #1', 'dial ffff x3', 'onOffer aaaa']);
    expect(bench.socket.last('reply')?.id).toBe(1);
    gate.resolve();
    await settle();
    expect(bench.log.slice(3)).toEqual(['onGo aaaa', 'onRevoke bbbb', 'onAck bbbb']);
  });

  test('with results too long for ready follow it at once', async () => {
    const bench = new Bench();
    const result = { outcome: 'completed', reason: null, error: null, output: '\u0001'.repeat(65_536), output_truncated: false } as const;
    bench.openJobs = [
      { job_id: JOB_A, state: 'ended', result },
      { job_id: JOB_B, state: 'ended', result },
    ];
    await bench.ready();
    expect(bench.socket.types()).toEqual(['hello', 'ready', 'job.ended', 'heartbeat']);
    expect(bench.socket.last('ready')?.jobs[1]).toEqual({ job_id: JOB_B, state: 'begun' });
    expect(bench.socket.last('job.ended')).toEqual({ type: 'job.ended', job_id: JOB_B, result });
  });
});

describe('a server that violates the protocol', () => {
  test.each(['hello', '{}', '{"type":"welcome"}'])('that sends %s is closed with 4400', async (text) => {
    const bench = await new Bench().start();
    bench.socket.sayText(text);
    expect(bench.socket.closed).toBe(4400);
  });

  test.each(['{"type":"news"}', '{"type":"job.go"}', '{"type":"cancel","id":99}'])(
    'that sends %s does not end the tunnel',
    async (text) => {
      const bench = await new Bench().ready();
      bench.socket.sayText(text);
      await settle();
      expect(bench.socket.closed).toBeUndefined();
    },
  );

  test('has its work before ready and its second welcome ignored', async () => {
    const bench = new Bench();
    await bench.start();
    bench.socket.say(request(1));
    bench.socket.welcome();
    bench.socket.welcome({ epoch: 9 });
    await settle();
    expect(bench.socket.types()).toEqual(['hello', 'ready', 'heartbeat']);
    expect(bench.lastEpoch).toBe(1);
  });

  test('gets no more messages while it does not read', async () => {
    const bench = await new Bench().ready();
    bench.socket.bufferedAmount = MAX_UNSENT_BYTES + 1;
    expect(bench.link.send({ type: 'job.began', job_id: JOB_A })).toBe(false);
  });
});

describe('the control plane is alive', () => {
  test('when it answers a ping', async () => {
    const bench = await new Bench().ready();
    const alive = bench.link.isAlive({ timeoutMs: 1000 });
    const [mark] = bench.socket.pings;
    bench.socket.events?.onPong('');
    await settle();
    bench.socket.events?.onPong(mark ?? '');
    expect(await alive).toBe(true);
  });

  test('not when it answers only an earlier ping', async () => {
    const bench = await new Bench().ready();
    const alive = bench.link.isAlive({ timeoutMs: 1000 });
    const [first] = bench.socket.pings;
    const again = bench.link.isAlive({ timeoutMs: 1000 });
    bench.socket.events?.onPong(first ?? '');
    expect(await alive).toBe(true);
    bench.socket.terminate();
    expect(await again).toBe(false);
  });

  test('not without a tunnel, and not when the tunnel breaks first', async () => {
    const bench = new Bench();
    expect(await bench.link.isAlive({ timeoutMs: 1000 })).toBe(false);
    await bench.ready();
    const alive = bench.link.isAlive({ timeoutMs: 1000 });
    bench.socket.terminate();
    expect(await alive).toBe(false);
  });
});

describe('stop', () => {
  test('waits for a request, sends goaway, and does not dial again', async () => {
    const bench = await new Bench().ready();
    const gate = Promise.withResolvers<{ ret: string }>();
    bench.handlers.command = () => gate.promise;
    bench.socket.say(request(1));
    const stopped = bench.link.stop(5000);
    await settle();
    expect(bench.socket.closed).toBeUndefined();
    gate.resolve({ ret: 'x' });
    await stopped;
    expect(bench.socket.types().slice(3)).toEqual(['reply', 'goaway']);
    expect(bench.socket.closed).toBe(1000);
    await bench.advance(1_000_000);
    expect([bench.dialer.dials, bench.clock.pending]).toEqual([1, 0]);
  });

  test('does not wait beyond its deadline', async () => {
    const bench = await new Bench().ready();
    bench.handlers.command = never;
    bench.socket.say(request(1, 600_000));
    const stopped = bench.link.stop(5000);
    await bench.advance(5000);
    await stopped;
    expect(bench.socket.closed).toBe(1000);
  });

  test('ends a pause between two dials', async () => {
    const bench = new Bench();
    bench.dialer.refuse = 'unauthorized';
    await bench.start();
    await bench.link.stop(5000);
    expect(bench.clock.pending).toBe(0);
  });
});

test('all requests are aborted after the end of the tunnel, whatever happened on it', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('request' as const), id: fc.integer({ min: 1, max: 8 }), ms: fc.nat(500) }),
    fc.record({ do: fc.constantFrom('cancel' as const, 'finish' as const, 'fail' as const), id: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ do: fc.constant('time' as const), ms: fc.nat(300) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const bench = await new Bench().ready();
      const open: { context: RequestContext; outcome: PromiseWithResolvers<object>; done: boolean }[] = [];
      bench.handlers.command = (_params, context) => {
        const outcome = Promise.withResolvers<object>();
        open.push({ context, outcome, done: false });
        return outcome.promise;
      };
      const end = (index: number, how: 'resolve' | 'reject'): void => {
        const served = open[index];
        if (!served) return;
        served.done = true;
        if (how === 'resolve') served.outcome.resolve({});
        else served.outcome.reject(new AgentError('rejected', 'no'));
      };
      for (const now of steps) {
        if (now.do === 'request') bench.socket.say(request(now.id, now.ms));
        else if (now.do === 'time') bench.clock.advance(now.ms);
        else if (now.do === 'cancel') bench.socket.say({ type: 'cancel', id: now.id });
        else end(now.id, now.do === 'finish' ? 'resolve' : 'reject');
        await settle();
      }
      const replies = bench.socket.sent.filter((message) => message.type === 'reply').length;
      expect(replies).toBe(open.filter(({ done }) => done).length);
      bench.socket.terminate();
      await settle();
      for (const { context, done } of open) expect(context.signal.aborted || done).toBe(true);
      for (const index of open.keys()) end(index, 'resolve');
      await bench.link.stop(0);
      expect(bench.clock.pending).toBe(0);
    }),
    { numRuns: 100 },
  );
});
