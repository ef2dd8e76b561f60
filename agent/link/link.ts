import type { RouterHeartbeat } from '../../protocol/index.ts';
import { AbsenceLog } from '../core/absence-log.ts';
import { sleep } from '../core/clock.ts';
import type { Clock } from '../core/clock.ts';
import { settleBy, toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { Backoff } from './backoff.ts';
import type { LastConnection } from './backoff.ts';
import { LinkError } from './errors.ts';
import { LinkSession } from './session.ts';
import type { AgentNotice, LinkHost, TunnelDialer } from './types.ts';

export interface LinkOptions {
  dialer: TunnelDialer;
  host: LinkHost;
  clock: Clock;
  /** 0 <= x < 1. */
  random: () => number;
  log: Log;
}

/** For goaway and the closing handshake at stop, in milliseconds. */
const GOODBYE_MS = 2000;

const NEVER_READY: LastConnection = { readyMs: 0 };

const TEXTS = {
  away: 'no connection to the control plane',
  stillAway: 'still no connection to the control plane',
  back: 'connected to the control plane',
};

/** Keeps the agent connected: one tunnel at a time, dialled again until {@link stop}. */
export class AgentLink {
  readonly #options: LinkOptions;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  readonly #absence: AbsenceLog;
  #session: LinkSession | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    this.#absence = new AbsenceLog({ log: options.log, clock: options.clock, texts: TEXTS });
  }

  /** Starts dialling. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Epoch of the tunnel while it is ready, otherwise undefined. */
  get epoch(): number | undefined {
    return this.#session?.epoch;
  }

  /** @returns false when it was not sent: no ready tunnel, too large, or the server does not read */
  send(message: AgentNotice): boolean {
    return this.#session?.notify(message) ?? false;
  }

  /** A heartbeat at once, for routers whose reachability changed. */
  sendHeartbeat(routers: RouterHeartbeat[]): void {
    this.#session?.sendHeartbeat(routers);
  }

  /** True when the server answers a ping over the tunnel before the deadline: proves that the link works in both directions. */
  async isAlive(deadline: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<boolean> {
    const pong = this.#session?.ping() ?? Promise.resolve(false);
    const late = (): AgentError => new AgentError('outcome_unknown', 'the control plane did not answer');
    return settleBy(pong, deadline, late).catch(() => false);
  }

  /** Waits for running work, at most `deadlineMs` milliseconds, then closes the tunnel and stops dialling. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping.abort();
    const session = this.#session;
    if (session) {
      await this.#within(session.idle(), deadlineMs);
      session.closeGracefully();
    }
    const loop = this.#loop ?? Promise.resolve();
    await this.#within(loop, GOODBYE_MS);
    session?.terminate();
    await loop;
  }

  /** Waits for `work`, at most `ms`. */
  async #within(work: Promise<void>, ms: number): Promise<void> {
    const done = new AbortController();
    await Promise.race([work.finally(() => done.abort()), sleep(this.#options.clock, ms, done.signal)]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const last = await this.#connect();
      if (signal.aborted) return;
      const pause = this.#backoff.next(last);
      this.#options.log.debug({ pause_ms: pause }, 'dialling again');
      await sleep(this.#options.clock, pause, signal);
    }
  }

  /** Dials one connection and waits for its end. Never rejects. */
  async #connect(): Promise<LastConnection> {
    const { dialer } = this.#options;
    const { signal } = this.#stopping;
    try {
      const attach = (socket: ConstructorParameters<typeof LinkSession>[0]): LinkSession => {
        this.#session = new LinkSession(socket, { ...this.#options, absence: this.#absence });
        return this.#session;
      };
      const session = await dialer.dialTunnel(attach, signal);
      const ended = await session.ended;
      if (!signal.aborted) this.#absence.away(ended.reason);
      return ended;
    } catch (error) {
      if (!signal.aborted) this.#onFailedDial(error);
      return NEVER_READY;
    } finally {
      this.#session = undefined;
    }
  }

  #onFailedDial(error: unknown): void {
    const { host, log } = this.#options;
    if (!(error instanceof LinkError)) log.error({ err: error }, 'the dial failed unexpectedly');
    this.#absence.away(toError(error).message);
    // The goaway with this reason may have been lost with the last tunnel.
    if (error instanceof LinkError && error.code === 'unauthorized') host.onRevoked();
  }
}
