import { type Clock, sleep } from '../../core/clock.ts';
import type { Deadline } from '../../core/deadline.ts';

/** What the test needs of the session that it looks after. */
export interface TestedSession {
  /** Bytes received so far, of whatever kind. */
  bytesReceived(): number;
  /** Asks for an answer of any kind. */
  ping(): void;
  /** Does the router's SSH server greet a new connection? Never rejects. */
  greetsAfresh(deadline: Deadline): Promise<boolean>;
  /** The router is there, but it knows nothing of this session. */
  forgotten(): void;
}

/** What the router itself answers has come long before; longer waits are for targets that do not answer. */
const PATIENCE_MS = 1000;
/** For the answer to a ping: a busy board and a line that loses packets need a while. */
const ANSWER_MS = 2000;
/** For a new connection's greeting. All three together leave a client that waits (10 s) the time to be served after all. */
const GREETING_MS = 2000;

/**
 * Finds a session that its router has forgotten (a power cut: nobody said goodbye) as soon as a request stays unanswered,
 * long before the keepalive would. Forgotten means that the router greets a new connection while this one is silent: as
 * long as it is away as a whole nothing is ended, because connections outlive a line that comes back.
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

  /** A request was sent. @returns a function to call once, when it was answered or given up */
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

  /** Never rejects, and ends with the session or with the last request that waits. */
  async #test(): Promise<void> {
    if (this.#testing) return;
    this.#testing = true;
    let isAway = true;
    while (isAway && this.#waiting > 0 && !this.#stopping.signal.aborted) isAway = await this.#isAway();
    this.#testing = false;
  }

  /** False when something came, or when the session is over: nothing will come. */
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
