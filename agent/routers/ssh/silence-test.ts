import { type Clock, sleep } from '../../core/clock.ts';
import type { Deadline } from '../../core/deadline.ts';

/** The part of a session that the test uses. */
export interface TestedSession {
  /** Bytes received so far, of any kind. */
  bytesReceived(): number;
  /** Requests an answer of any kind. */
  ping(): void;
  /** Whether the router's SSH server greets a new connection. Never rejects. */
  greetsAfresh(deadline: Deadline): Promise<boolean>;
  /** The router answers, but no longer knows this session. */
  forgotten(): void;
}

/** Wait before the test, in milliseconds: the router itself answers faster, so the target may not answer. */
const PATIENCE_MS = 1000;
/** For the answer to a ping, in milliseconds: a busy board or a lossy line needs some time. */
const ANSWER_MS = 2000;
/** For a new connection's greeting, in milliseconds. All three together leave time to serve a client that waits 10 s. */
const GREETING_MS = 2000;

/**
 * Detects a session that its router has lost (after a power failure) when a request stays unanswered, long before the keepalive
 * would. A session is lost when the router greets a new connection while this one is silent. While the router does not answer at
 * all, nothing is ended, because connections survive a line that comes back.
 */
export class SilenceTest {
  readonly #session: TestedSession;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #waiting = 0;
  #testing = false;

  constructor(session: TestedSession, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  /** A request was sent. @returns a function to call once, when it was answered or cancelled */
  expectAnswer(): () => void {
    this.#waiting += 1;
    const timer = this.#clock.setTimeout(() => void this.#test(), PATIENCE_MS);
    return () => {
      this.#waiting -= 1;
      timer.cancel();
    };
  }

  /** The session has ended. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Never rejects. Ends with the session or with the last waiting request. */
  async #test(): Promise<void> {
    if (this.#testing) return;
    this.#testing = true;
    let isAway = true;
    while (isAway && this.#waiting > 0 && !this.#stopping.signal.aborted) isAway = await this.#isAway();
    this.#testing = false;
  }

  /** False when bytes were received, or when the session is over. */
  async #isAway(): Promise<boolean> {
    const { signal } = this.#stopping;
    const before = this.#session.bytesReceived();
    this.#session.ping();
    const isOver = (): boolean => signal.aborted || this.#session.bytesReceived() !== before;
    await sleep(this.#clock, ANSWER_MS, signal);
    if (isOver()) return false;
    const greeted = await this.#session.greetsAfresh({ timeoutMs: GREETING_MS, signal });
    if (isOver()) return false;
    if (greeted) this.#session.forgotten();
    return !greeted;
  }
}
