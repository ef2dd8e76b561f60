import type { Duplex } from 'node:stream';
import { remaining, tooLate } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import type { FailSafe } from '../fail-safe.ts';
import type { NamedDevice } from '../forwarding-memory.ts';
import type { SshForwarding } from '../ssh-forwarding.ts';
import type { Target, Way } from '../types.ts';

export interface SshWayOptions {
  router: RouterAdapter;
  target: Target;
  forwarding: SshForwarding;
  /** Longest time that the way is needed, in milliseconds. */
  expiresInMs: number;
  /** The router no longer forwards. */
  onLost: (reason: string) => void;
}

/** Shortest interval, and longest duration, of checks of a router that does not answer over SSH. */
const CHECK_MS = 10_000;

/** The router's SSH server dials the target (direct-tcpip). */
export class SshWay implements Way {
  readonly name = 'ssh';
  readonly #options: SshWayOptions;
  /** The device that forwards for this way. */
  readonly #device: NamedDevice;
  readonly #stop = new AbortController();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> = Promise.resolve();

  private constructor(options: SshWayOptions, device: NamedDevice) {
    this.#options = options;
    this.#device = device;
  }

  /** Switches the router's forwarding on while the way is open. @throws AgentError */
  static async open(options: SshWayOptions, deadline: Deadline): Promise<SshWay> {
    return new SshWay(options, await options.forwarding.acquire(options.router, options.expiresInMs, deadline));
  }

  /** How the router restores its forwarding setting by itself; undefined when it was on before. */
  get failSafe(): FailSafe | undefined {
    return this.#options.forwarding.failSafeOf(this.#device);
  }

  async connect(deadline: Deadline): Promise<Duplex> {
    try {
      return await this.#openTcp(deadline);
    } catch (error) {
      const code = error instanceof AgentError ? error.code : undefined;
      // Somebody has switched forwarding off: every later connection would fail too.
      if (code === 'not_allowed') this.#options.onLost((error as AgentError).message);
      if (code === 'router_unreachable' && deadline.signal?.aborted !== true) this.#suspect();
      throw error;
    }
  }

  renew(expiresInMs: number, deadline: Deadline): Promise<void> {
    return this.#options.forwarding.renew(this.#options.router, this.#device, expiresInMs, deadline);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#checking;
    await this.#options.forwarding.release(this.#options.router, this.#device);
  }

  /** Retries once if the session ended before an answer: nothing was sent on the connection yet. */
  async #openTcp(deadline: Deadline): Promise<Duplex> {
    const { router, target } = this.#options;
    const startedAt = performance.now();
    try {
      return await router.openTcp(target, deadline);
    } catch (error) {
      const left = remaining(deadline, startedAt);
      const isUnanswered = error instanceof AgentError && error.code === 'outcome_unknown';
      if (!isUnanswered || tooLate(left) !== undefined) throw error;
      return router.openTcp(target, left);
    }
  }

  #suspect(): void {
    if (performance.now() - this.#checkedAt < CHECK_MS || this.#stop.signal.aborted) return;
    this.#checkedAt = performance.now();
    this.#checking = this.#check();
  }

  /** Distinguishes an unreachable router, which may come back, from a failed SSH server alone. Never rejects. */
  async #check(): Promise<void> {
    const { router, target, onLost } = this.#options;
    const deadline = { timeoutMs: CHECK_MS, signal: this.#stop.signal };
    try {
      await router.refresh(deadline);
    } catch {
      return;
    }
    try {
      const stream = await router.openTcp(target, deadline);
      stream.on('error', () => undefined).destroy();
    } catch (error) {
      const isGone = error instanceof AgentError && error.code === 'router_unreachable';
      if (isGone && !this.#stop.signal.aborted) onLost(`the router no longer answers over SSH: ${error.message}`);
    }
  }
}
