import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BusAwayError, NoAnswerError, NobodyListensError } from '../../server/platform/bus/errors.ts';
import { MAX_VALUE_BYTES } from '../../server/platform/bus/frames.ts';
import { publishList } from '../../server/platform/bus/publish-list.ts';
import { NatsBus } from '../../server/platform/bus/nats-bus.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import type { Log } from '../../server/platform/core/log.ts';
import { hasNats, NatsServer } from '../harness/nats-server.ts';
import { RecordedLog } from '../harness/recorded-log.ts';
import { silentLog } from '../harness/silent-log.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

interface Opened {
  port?: number;
  log?: Log;
  user?: string;
  password?: string;
}

const ENOUGH = { timeoutMs: 30_000 };

describe.skipIf(!hasNats())('the bus on nats-server', () => {
  let server: NatsServer;
  let buses: NatsBus[];
  let closers: (() => Promise<void>)[];

  beforeEach(async () => {
    buses = [];
    closers = [];
    server = await NatsServer.start();
  });
  afterEach(async () => {
    for (const bus of buses) await bus.close();
    for (const close of closers) await close();
    await server.close();
  });

  function open({ port = server.port, log = silentLog, user, password }: Opened = {}): NatsBus {
    const servers = [`127.0.0.1:${port}`];
    const bus = NatsBus.open({ servers, allowPlain: true, user, password, name: 'test', timers: systemClock, log });
    buses.push(bus);
    return bus;
  }

  async function openTwo(): Promise<[NatsBus, NatsBus]> {
    const [asker, answerer] = [open(), open()];
    await untilConnected(asker, answerer);
    return [asker, answerer];
  }

  async function untilConnected(...all: NatsBus[]): Promise<void> {
    await waitUntil('connected', () => all.every(({ isConnected }) => isConnected));
  }

  /** A subscription is only certain once something came through it. */
  async function untilAnswered(asker: NatsBus, subject: string): Promise<void> {
    await waitUntil(`${subject} answers`, async () => {
      try {
        await asker.ask(subject, 'ready?', { timeoutMs: 1000 });
        return true;
      } catch (error) {
        if (error instanceof NobodyListensError || error instanceof BusAwayError || error instanceof NoAnswerError) return false;
        throw error;
      }
    });
  }

  test('an ask is answered, with what was sent before the answer in order', async () => {
    const [asker, answerer] = await openTwo();
    answerer.answer('test.count', async (value, { send, remainingMs }) => {
      for (let item = 0; item < 1000; item += 1) send({ item });
      return { value, inTime: remainingMs <= ENOUGH.timeoutMs && remainingMs > 0 };
    });
    await untilAnswered(asker, 'test.count');
    const items: unknown[] = [];
    const answer = await asker.ask('test.count', { text: 'é' }, { ...ENOUGH, onItem: (item) => items.push(item) });
    expect(answer).toEqual({ value: { text: 'é' }, inTime: true });
    expect(items).toEqual(Array.from({ length: 1000 }, (_, item) => ({ item })));
  });

  test('many asks at once get each its own answer', async () => {
    const [asker, answerer] = await openTwo();
    answerer.answer('test.echo', async (value) => value);
    await untilAnswered(asker, 'test.echo');
    const values = Array.from({ length: 500 }, (_, number) => number);
    expect(await Promise.all(values.map((value) => asker.ask('test.echo', value, ENOUGH)))).toEqual(values);
  });

  test('an ask without an answerer fails at once, and nothing was done', async () => {
    const asker = open();
    await untilConnected(asker);
    const beganAt = performance.now();
    await expect(asker.ask('test.nobody', 1, { timeoutMs: 60_000 })).rejects.toBeInstanceOf(NobodyListensError);
    expect(performance.now() - beganAt).toBeLessThan(30_000);
    expect(asker.counts.asks.nobody).toBe(1);
  });

  test('an error of the answerer arrives with its code and its public members, and without its cause', async () => {
    const [asker, answerer] = await openTwo();
    answerer.answer('test.refuse', async (value) => {
      if (value === 'ready?') return null;
      throw new AppError('rejected_by_router', 'no such item', { extra: { category: 0 }, cause: new Error('secret') });
    });
    await untilAnswered(asker, 'test.refuse');
    const error = await asker.ask('test.refuse', 1, ENOUGH).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'rejected_by_router', message: 'no such item', extra: { category: 0 } });
    expect((error as Error).cause).toBeUndefined();
  });

  test('an unexpected error of the answerer tells nothing of itself', async () => {
    const [asker, answerer] = await openTwo();
    answerer.answer('test.fail', async (value) => {
      if (value === 'ready?') return null;
      throw new Error('secret');
    });
    await untilAnswered(asker, 'test.fail');
    const error = await asker.ask('test.fail', 1, ENOUGH).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'internal' });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  test('questions and answers larger than a message of the server travel in parts', async () => {
    const [asker, answerer] = await openTwo();
    answerer.answer('test.large', async (value, { send }) => {
      send(value);
      return value;
    });
    await untilAnswered(asker, 'test.large');
    const large = 'ä'.repeat(MAX_VALUE_BYTES / 2 - 10);
    const items: unknown[] = [];
    const answer = await asker.ask('test.large', large, { ...ENOUGH, onItem: (item) => items.push(item) });
    expect(answer === large && items[0] === large && items.length === 1).toBe(true);
  });

  test('a value larger than the limit is refused before anything is sent, in both directions', async () => {
    const [asker, answerer] = await openTwo();
    const tooLarge = 'x'.repeat(MAX_VALUE_BYTES);
    answerer.answer('test.large', async (value) => (value === 'large' ? tooLarge : null));
    await untilAnswered(asker, 'test.large');
    await expect(asker.ask('test.large', tooLarge, ENOUGH)).rejects.toMatchObject({ code: 'too_large' });
    await expect(asker.ask('test.large', 'large', ENOUGH)).rejects.toMatchObject({ code: 'too_large' });
  });

  test('after the deadline the outcome is unknown, and the answerer is told to stop', async () => {
    const [asker, answerer] = await openTwo();
    const stopped = Promise.withResolvers<void>();
    answerer.answer('test.slow', async (value, { signal }) => {
      if (value === 'ready?') return null;
      signal.addEventListener('abort', () => stopped.resolve());
      return stopped.promise;
    });
    await untilAnswered(asker, 'test.slow');
    await expect(asker.ask('test.slow', 1, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'outcome_unknown', why: 'deadline' });
    await stopped.promise;
  });

  test('a caller who gives up ends the answer', async () => {
    const [asker, answerer] = await openTwo();
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    answerer.answer('test.slow', async (value, { signal }) => {
      if (value === 'ready?') return null;
      begun.resolve();
      signal.addEventListener('abort', () => stopped.resolve());
      return stopped.promise;
    });
    await untilAnswered(asker, 'test.slow');
    const caller = new AbortController();
    const answer = asker.ask('test.slow', 1, { ...ENOUGH, signal: caller.signal });
    await begun.promise;
    caller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'outcome_unknown', why: 'aborted' });
    await stopped.promise;
  });

  test('a taker that fails ends the answer', async () => {
    const [asker, answerer] = await openTwo();
    const stopped = Promise.withResolvers<void>();
    answerer.answer('test.items', async (value, { send, signal }) => {
      if (value === 'ready?') return null;
      signal.addEventListener('abort', () => stopped.resolve());
      send(1);
      return stopped.promise;
    });
    await untilAnswered(asker, 'test.items');
    const onItem = (): void => {
      throw new AppError('too_large', 'enough');
    };
    await expect(asker.ask('test.items', 1, { ...ENOUGH, onItem })).rejects.toMatchObject({ code: 'too_large' });
    await stopped.promise;
  });

  test('a hint reaches everyone else who listens', async () => {
    const [first, second] = await openTwo();
    const third = open();
    await untilConnected(third);
    const heard: string[] = [];
    first.listen('test.hint', () => heard.push('first'));
    second.listen('test.hint', (value) => heard.push(`second ${String(value)}`));
    third.listen('test.hint', (value) => heard.push(`third ${String(value)}`));
    for (const bus of [second, third]) bus.answer(`test.${buses.indexOf(bus)}`, async () => null);
    await untilAnswered(first, 'test.1');
    await untilAnswered(first, 'test.2');
    expect(first.publish('test.hint', 7)).toBe('sent');
    await waitUntil('both have heard it', () => heard.length >= 2);
    expect(heard.toSorted()).toEqual(['second 7', 'third 7']);
  });

  test('a list comes whole where one message is small', async () => {
    const small = await NatsServer.start(['max_payload: 5000']);
    closers.push(() => small.close());
    const [first, second] = [open({ port: small.port }), open({ port: small.port })];
    await untilConnected(first, second);
    const heard: string[][] = [];
    second.listen('test.list', (value) => heard.push((value as { ids: string[] }).ids));
    second.answer('test.ready', async () => null);
    await untilAnswered(first, 'test.ready');
    const ids = Array.from({ length: 1000 }, (_, index) => `record ${index} ${'x'.repeat(index % 50)}`);
    expect(first.publish('test.list', { ids })).toBe('too_large');
    publishList(first, 'test.list', ids, { most: 500, hintOf: (some) => ({ ids: some }) });
    await waitUntil('all are heard', () => heard.flat().length >= ids.length);
    expect(heard.flat()).toEqual(ids);
  });

  test('what is told while there is no server is not sent, however large it is', () => {
    const bus = open({ port: 1 });
    expect(bus.publish('test.list', { text: 'x'.repeat(10_000) })).toBe('away');
    publishList(bus, 'test.list', Array(1000).fill('record'), { most: 500, hintOf: (some) => ({ ids: some }) });
  });

  describe('when its server goes', () => {
    test('asks under way end at once, new ones are refused at once, and all works again when it is back', async () => {
      const [asker, answerer] = await openTwo();
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      let isHanging = true;
      answerer.answer('test.slow', async (value, { signal }) => {
        if (value === 'ready?' || !isHanging) return 'back';
        begun.resolve();
        signal.addEventListener('abort', () => stopped.resolve());
        return stopped.promise;
      });
      await untilAnswered(asker, 'test.slow');
      const underWay = asker.ask('test.slow', 1, ENOUGH);
      await begun.promise;
      await Promise.all([expect(underWay).rejects.toMatchObject({ code: 'outcome_unknown', why: 'away' }), server.kill()]);
      await expect(asker.ask('test.slow', 2, ENOUGH)).rejects.toBeInstanceOf(BusAwayError);
      expect(asker.publish('test.hint', 1)).toBe('away');
      await stopped.promise;
      isHanging = false;
      await server.resume();
      await untilConnected(asker, answerer);
      await untilAnswered(asker, 'test.slow');
      expect(await asker.ask('test.slow', 3, ENOUGH)).toBe('back');
      expect(asker.counts.connections).toBeGreaterThanOrEqual(2);
    });

    test('what was asked while it was away is not done later', async () => {
      const [asker, answerer] = await openTwo();
      const asked: unknown[] = [];
      answerer.answer('test.write', async (value) => asked.push(value));
      await untilAnswered(asker, 'test.write');
      await server.kill();
      await waitUntil('the asker has noticed', () => !asker.isConnected);
      await expect(asker.ask('test.write', 'late', ENOUGH)).rejects.toBeInstanceOf(BusAwayError);
      await server.resume();
      await untilConnected(asker, answerer);
      await untilAnswered(asker, 'test.write');
      await asker.ask('test.write', 'new', ENOUGH);
      expect(asked.filter((value) => value !== 'ready?')).toEqual(['new']);
    });

    test('one that is frozen is found within seconds', async () => {
      const [asker, answerer] = await openTwo();
      server.freeze();
      await waitUntil('both have noticed', () => !asker.isConnected && !answerer.isConnected);
      server.unfreeze();
      await untilConnected(asker, answerer);
    });

    test('a line that was cut without a word is found within seconds', async () => {
      const proxy = await StallProxy.start(server.port);
      closers.push(() => proxy.close());
      const asker = open({ port: proxy.port });
      await untilConnected(asker);
      proxy.stall();
      await waitUntil('noticed', () => !asker.isConnected);
      proxy.flow();
      await untilConnected(asker);
    });

    test('one that is away at the start is waited for', async () => {
      await server.kill();
      const log = new RecordedLog();
      const bus = open({ log });
      await waitUntil('it has tried', () => log.lines.length > 0);
      expect(bus.isConnected).toBe(false);
      await server.resume();
      await untilConnected(bus);
    });
  });

  test('only who knows the password is let in', async () => {
    const guarded = await NatsServer.start(['authorization { user: signalbox, password: right }']);
    closers.push(() => guarded.close());
    const log = new RecordedLog();
    const stranger = open({ port: guarded.port, log, user: 'signalbox', password: 'wrong' });
    const member = open({ port: guarded.port, user: 'signalbox', password: 'right' });
    await member.firstAttempt();
    expect(member.isConnected).toBe(true);
    await expect(stranger.firstAttempt()).rejects.toMatchObject({
      code: 'conflict',
      message: 'the bus refuses the user or the password of SIGNALBOX_BUS_URL',
    });
    await waitUntil('the log says so', () => log.lines.length > 0);
    expect(stranger.isConnected).toBe(false);
    expect(JSON.stringify(log.lines)).not.toContain('wrong');
  });
});
