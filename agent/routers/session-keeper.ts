import type { RouterReason } from '../../protocol/index.ts';
import { type Clock, sleep } from '../core/clock.ts';
import { type Deadline, settleBy, toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';

/** Any session with a router: RouterOS API or SSH. */
export interface KeptSession {
  readonly alive: boolean;
  /** Calls the listener once with the reason when the session ends, at once if it has ended. */
  onClose(listener: (reason: string) => void): () => void;
  close(): Promise<void>;
}

export interface KeeperEvents<S> {
  /** A session was opened; awaited before the keeper watches it. */
  up: (session: S, deadline: Deadline) => Promise<void>;
  /**
   * @param code the reason in one word
   * @param silentSince when it answered last, on the monotonic clock; undefined if it ended the session itself
   */
  down: (reason: string, code: RouterReason, silentSince?: number) => void;
}

export interface KeeperOptions<S> {
  open: (deadline: Deadline) => Promise<S>;
  /** A cheap real request; any answer counts. */
  ping: (session: S, deadline: Deadline) => Promise<void>;
  events: KeeperEvents<S>;
  clock: Clock;
  /** 0 to 1, for the jitter. */
  random: () => number;
}

const OPEN_TIMEOUT_MS = 15_000;
/** Ping interval: NAT entries live for 60 s or more, and a dead router is detected within two heartbeats. */
const PING_INTERVAL_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;
/** Unanswered pings that end a session: a router at full load may miss one, and the end would interrupt running commands. */
const PINGS_MISSED = 2;
const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 30_000;
/** After a session that lasted this long, in milliseconds, the back-off starts again. */
const STABLE_MS = 60_000;
/** How long an operation waits for a session that is being opened, in milliseconds. */
export const OPENING_GRACE_MS = 500;

/** Milliseconds before retry number `attempt` (0 = first retry), with full jitter. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 16));
}

/**
 * Keeps one session open: opens it, pings it, and opens the next when it ends. Owns the session and its loop; {@link stop} ends both.
 */
export class SessionKeeper<S extends KeptSession> {
  readonly #options: KeeperOptions<S>;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  #session: S | undefined;
  #reason = 'not connected yet';
  #opening = false;
  /** Ends the current back-off. */
  #wake = new AbortController();
  /** Callers that wait for the next opening to succeed or fail. */
  readonly #waiting = new Set<() => void>();

  constructor(options: KeeperOptions<S>) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** The session, if there is one now. */
  get current(): S | undefined {
    return this.#session?.alive ? this.#session : undefined;
  }

  /** The session, waiting half a second if it is being opened. @throws AgentError `router_unreachable` */
  async get(deadline: Deadline): Promise<S> {
    if (!this.current && this.#opening) {
      await this.#nextOutcome({ ...deadline, timeoutMs: Math.min(deadline.timeoutMs, OPENING_GRACE_MS) }).catch(() => undefined);
    }
    const session = this.current;
    if (!session) throw new AgentError('router_unreachable', this.#reason);
    return session;
  }

  /** The session, opening it now instead of after the back-off. @throws AgentError `router_unreachable` */
  async getFresh(deadline: Deadline): Promise<S> {
    if (!this.current && !this.#stopping.signal.aborted) {
      this.#wake.abort();
      await this.#nextOutcome(deadline);
    }
    return this.get(deadline);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#session?.close();
    await this.#loop;
  }

  #nextOutcome(deadline: Deadline): Promise<void> {
    let settled: (() => void) | undefined;
    const outcome = new Promise<void>((resolve) => {
      settled = resolve;
      this.#waiting.add(resolve);
    });
    return settleBy(outcome, deadline, () => new AgentError('router_unreachable', this.#reason)).finally(() => {
      if (settled) this.#waiting.delete(settled);
    });
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    let attempt = 0;
    while (!this.#stopping.signal.aborted) {
      const openedAt = clock.monotonic();
      const session = await this.#open();
      if (session) {
        // stop() ran before this session was known.
        if (this.#stopping.signal.aborted) await session.close();
        await this.#watch(session);
        if (clock.monotonic() - openedAt >= STABLE_MS) attempt = 0;
      }
      this.#wake = new AbortController();
      await sleep(clock, backoffMs(attempt, random), AbortSignal.any([this.#wake.signal, this.#stopping.signal]));
      attempt += 1;
    }
  }

  async #open(): Promise<S | undefined> {
    const { open, events } = this.#options;
    const deadline = { timeoutMs: OPEN_TIMEOUT_MS, signal: this.#stopping.signal };
    this.#opening = true;
    try {
      this.#session = await open(deadline);
      await events.up(this.#session, deadline);
      return this.#session;
    } catch (error) {
      const half = this.#session;
      this.#lose(half, toError(error).message, error instanceof AgentError ? error.reason : 'unknown');
      await half?.close();
      return undefined;
    } finally {
      this.#opening = false;
      for (const settled of this.#waiting) settled();
    }
  }

  /** Pings until the session ends. */
  async #watch(session: S): Promise<void> {
    const { clock } = this.#options;
    const ended = new AbortController();
    let answeredAt = clock.monotonic();
    session.onClose((reason) => {
      this.#lose(session, reason, 'closed');
      ended.abort();
    });
    let missed = 0;
    while (!ended.signal.aborted) {
      await sleep(clock, PING_INTERVAL_MS, ended.signal);
      if (ended.signal.aborted) break;
      missed = (await this.#answers(session, ended.signal)) ? 0 : missed + 1;
      if (missed === 0) answeredAt = clock.monotonic();
      if (missed >= PINGS_MISSED) {
        this.#lose(session, 'the router no longer answers', 'timeout', answeredAt);
        await session.close();
      }
    }
  }

  async #answers(session: S, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.ping(session, { timeoutMs: PING_TIMEOUT_MS, signal });
      return true;
    } catch (error) {
      // A refusal is an answer too.
      return error instanceof AgentError && error.code === 'rejected';
    }
  }

  /** The first reason counts: closing a dead session would report another. */
  #lose(session: S | undefined, reason: string, code: RouterReason, silentSince?: number): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#reason = reason;
    if (!this.#stopping.signal.aborted) this.#options.events.down(reason, code, silentSince);
  }
}
