import { type Deadline, settleBy, toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { KeptSession } from './session-keeper.ts';

/** For connecting and logging in, in milliseconds; old boards need seconds for a key exchange. */
const OPEN_TIMEOUT_MS = 20_000;

/** A session shared by all callers, opened on first use and again after it has ended. */
export class SharedSession<S extends KeptSession> {
  readonly #openSession: (deadline: Deadline) => Promise<S>;
  readonly #closing = new AbortController();
  #session: S | undefined;
  #opening: Promise<S> | undefined;

  constructor(open: (deadline: Deadline) => Promise<S>) {
    this.#openSession = open;
  }

  /** @throws AgentError `router_unreachable` */
  get(deadline: Deadline): Promise<S> {
    if (this.#session?.alive) return Promise.resolve(this.#session);
    // Independent of the first caller's deadline and signal, because others wait for the same session.
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return settleBy(this.#opening, deadline, (reason) => new AgentError('router_unreachable', reason));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(toError);
    await this.#session?.close();
  }

  async #open(): Promise<S> {
    const session = await this.#openSession({ timeoutMs: OPEN_TIMEOUT_MS, signal: this.#closing.signal });
    this.#session = session;
    return session;
  }
}
