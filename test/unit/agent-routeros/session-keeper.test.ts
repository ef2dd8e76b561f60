import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../agent/core/clock.ts';
import { AgentError } from '../../../agent/core/errors.ts';
import { backoffMs, type KeptSession, SessionKeeper } from '../../../agent/routers/session-keeper.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Stopwatch } from '../../harness/stopwatch.ts';

/** A session in name only. */
class FakeSession implements KeptSession {
  alive = true;
  closed = 0;
  readonly #listeners: ((reason: string) => void)[] = [];

  onClose(listener: (reason: string) => void): () => void {
    if (this.alive) this.#listeners.push(listener);
    else listener('ended before');
    return () => undefined;
  }

  break(reason: string): void {
    this.alive = false;
    for (const listener of this.#listeners.splice(0)) listener(reason);
  }

  close(): Promise<void> {
    this.closed += 1;
    this.break('closed');
    return Promise.resolve();
  }
}

const SOON = { timeoutMs: 5000 };
let clock: ManualClock;
/** Every pause that was begun, in milliseconds. */
let pauses: number[];
let sessions: FakeSession[];
let downs: string[];
let silent: (number | undefined)[];
let open: () => Promise<FakeSession>;
let ping: () => Promise<void>;
let keeper: SessionKeeper<FakeSession>;

beforeEach(() => {
  clock = new ManualClock();
  pauses = [];
  const watched: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sinceBoot: () => clock.sinceBoot(),
    setTimeout: (callback, ms) => {
      pauses.push(ms);
      return clock.setTimeout(callback, ms);
    },
  };
  sessions = [];
  downs = [];
  silent = [];
  open = () => {
    const session = new FakeSession();
    sessions.push(session);
    return Promise.resolve(session);
  };
  ping = () => Promise.resolve();
  keeper = new SessionKeeper<FakeSession>({
    open: () => open(),
    ping: () => ping(),
    events: {
      up: () => Promise.resolve(),
      down: (reason, _code, silentSince) => {
        downs.push(reason);
        silent.push(silentSince);
      },
    },
    clock: watched,
    random: () => 1,
  });
});

afterEach(() => keeper.stop());

/** Everything that was already possible has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const refused = (): Promise<never> => Promise.reject(new AgentError('router_unreachable', 'connection refused'));

describe('a kept session', () => {
  it('is available to callers that arrive while it is being opened', async () => {
    keeper.start();
    expect(await keeper.get(SOON)).toBe(sessions[0]);
  });

  it('is opened again when it ends, after a pause', async () => {
    keeper.start();
    await keeper.get(SOON);
    sessions[0]?.break('reset');
    await settled();
    expect(downs).toEqual(['reset']);
    await expect(keeper.get(SOON)).rejects.toMatchObject({ code: 'router_unreachable', message: 'reset' });
    clock.advance(1000);
    await settled();
    expect(await keeper.get(SOON)).toBe(sessions[1]);
  });

  it('is retried at growing intervals, up to half a minute', async () => {
    open = refused;
    keeper.start();
    for (let attempt = 0; attempt < 7; attempt++) {
      await settled();
      clock.advance(pauses[attempt] ?? 0);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('that lasted resets the pauses', async () => {
    open = refused;
    keeper.start();
    await settled();
    clock.advance(1000);
    await settled();
    open = () => {
      sessions.push(new FakeSession());
      return Promise.resolve(sessions.at(-1)!);
    };
    clock.advance(2000);
    await settled();
    clock.advance(60_000);
    await settled();
    sessions[0]?.break('reset');
    await settled();
    expect(pauses.at(-1)).toBe(1000);
  });

  it.each([
    { lasted: 60_000, step: -3_600_000, pause: 1000 },
    { lasted: 20_000, step: 3_600_000, pause: 4000 },
  ])('counts as $lasted ms long when the clock is set by $step ms meanwhile', async ({ lasted, step, pause }) => {
    const good = open;
    open = refused;
    keeper.start();
    await settled();
    clock.advance(1000);
    await settled();
    open = good;
    clock.advance(2000);
    await settled();
    clock.step(step);
    clock.advance(lasted);
    await settled();
    sessions[0]?.break('reset');
    await settled();
    expect(pauses.at(-1)).toBe(pause);
  });

  it('is closed after two unanswered pings', async () => {
    ping = () => Promise.reject(new AgentError('outcome_unknown', 'no answer'));
    keeper.start();
    await keeper.get(SOON);
    clock.advance(20_000);
    await settled();
    expect(keeper.current).toBe(sessions[0]);
    clock.advance(20_000);
    await settled();
    expect(keeper.current).toBeUndefined();
    expect(sessions[0]?.closed).toBe(1);
    expect(downs).toEqual(['the router no longer answers']);
    expect(silent).toEqual([expect.any(Number)]);
    expect(silent[0]).toBeLessThanOrEqual(clock.monotonic() - 40_000);
  });

  it('is kept when the ping is refused, because that is an answer', async () => {
    ping = () => Promise.reject(new AgentError('rejected', 'not enough permissions (9)'));
    keeper.start();
    await keeper.get(SOON);
    for (let ping = 0; ping < 4; ping++) {
      clock.advance(20_000);
      await settled();
    }
    expect(keeper.current).toBe(sessions[0]);
  });

  it('can be requested at once instead of after the pause', async () => {
    const first = open;
    open = refused;
    keeper.start();
    await settled();
    open = first;
    expect(await keeper.getFresh(SOON)).toBe(sessions[0]);
  });

  it('that is requested at once reports why it cannot be opened', async () => {
    open = refused;
    keeper.start();
    await settled();
    await expect(keeper.getFresh(SOON)).rejects.toMatchObject({ message: 'connection refused' });
  });

  it('that opens after the keeper was stopped is closed', async () => {
    let arrive: ((session: FakeSession) => void) | undefined;
    open = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    keeper.start();
    const stopped = keeper.stop();
    const late = new FakeSession();
    arrive?.(late);
    await stopped;
    expect(late.closed).toBeGreaterThan(0);
  });
});

describe('an operation without a session', () => {
  it('fails at once in a pause, with the reason', async () => {
    open = refused;
    keeper.start();
    await settled();
    const stopwatch = new Stopwatch();
    await expect(keeper.get(SOON)).rejects.toMatchObject({ code: 'router_unreachable', message: 'connection refused' });
    expect(stopwatch.ms).toBeLessThan(400);
  });

  it('waits half a second for one that is being opened', async () => {
    open = () => new Promise(() => undefined);
    keeper.start();
    const startedAt = performance.now();
    await expect(keeper.get(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    expect(performance.now() - startedAt).toBeGreaterThan(450);
    // This fake ignores the signal that ends it.
    keeper = new SessionKeeper<FakeSession>({
      open,
      ping,
      events: { up: () => Promise.resolve(), down: () => undefined },
      clock,
      random: () => 1,
    });
  });
});

describe('the pause', () => {
  it('is between zero and its ceiling', () => {
    expect(backoffMs(3, () => 0)).toBe(0);
    expect(backoffMs(3, () => 0.5)).toBe(4000);
    expect(backoffMs(1000, () => 1)).toBe(30_000);
  });
});
