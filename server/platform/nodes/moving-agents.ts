import type { Clock, Timer } from '../core/clock.ts';

interface Move {
  /** When it is not waited for any longer, in monotonic time. */
  until: number;
  timer: Timer;
  end: PromiseWithResolvers<void>;
}

/** Agents that a control plane sends to others: what they are asked meanwhile waits for their new tunnels. */
export class MovingAgents {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  readonly #moves = new Map<string, Move>();
  #isStopped = false;

  constructor(clock: Pick<Clock, 'monotonic' | 'setTimeout'>) {
    this.#clock = clock;
  }

  has(agentId: string): boolean {
    return this.#moves.has(agentId);
  }

  /** How long it is waited for yet, milliseconds; undefined when it is not. */
  remainingMs(agentId: string): number | undefined {
    const move = this.#moves.get(agentId);
    return move && Math.max(0, move.until - this.#clock.monotonic());
  }

  /** From now on it is waited for, at most so long; the last word counts. */
  begin(agentId: string, forMs: number): void {
    if (this.#isStopped) return;
    const known = this.#moves.get(agentId);
    known?.timer.cancel();
    const timer = this.#clock.setTimeout(() => this.end(agentId), forMs);
    this.#moves.set(agentId, { until: this.#clock.monotonic() + forMs, timer, end: known?.end ?? Promise.withResolvers<void>() });
  }

  /** It has a tunnel again, or is not waited for any longer. */
  end(agentId: string): void {
    const move = this.#moves.get(agentId);
    if (!move) return;
    this.#moves.delete(agentId);
    move.timer.cancel();
    move.end.resolve();
  }

  /** Nobody is waited for any longer. */
  stop(): void {
    this.#isStopped = true;
    for (const agentId of this.#moves.keys()) this.end(agentId);
  }

  /** Waits for the end of a move, but not longer than the caller does. */
  async ended(agentId: string, { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<void> {
    const move = this.#moves.get(agentId);
    if (!move || timeoutMs <= 0 || signal?.aborted) return;
    const givenUp = Promise.withResolvers<void>();
    const giveUp = (): void => givenUp.resolve();
    const timer = this.#clock.setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp);
    await Promise.race([move.end.promise, givenUp.promise]);
    signal?.removeEventListener('abort', giveUp);
    timer.cancel();
  }
}
