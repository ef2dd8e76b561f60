import type { Clock, Timer } from '../core/clock.ts';

interface Move {
  /** When it is not waited for any longer. */
  timer: Timer;
  end: PromiseWithResolvers<void>;
}

/** Agents that a control plane sends to others: what they are asked meanwhile waits for their new tunnels. */
export class MovingAgents {
  readonly #clock: Pick<Clock, 'setTimeout'>;
  readonly #moves = new Map<string, Move>();

  constructor(clock: Pick<Clock, 'setTimeout'>) {
    this.#clock = clock;
  }

  has(agentId: string): boolean {
    return this.#moves.has(agentId);
  }

  /** From now on it is waited for, at most so long; the last word counts. */
  begin(agentId: string, forMs: number): void {
    const known = this.#moves.get(agentId);
    known?.timer.cancel();
    const timer = this.#clock.setTimeout(() => this.end(agentId), forMs);
    this.#moves.set(agentId, { timer, end: known?.end ?? Promise.withResolvers<void>() });
  }

  /** It has a tunnel again, or is not waited for any longer. */
  end(agentId: string): void {
    const move = this.#moves.get(agentId);
    if (!move) return;
    this.#moves.delete(agentId);
    move.timer.cancel();
    move.end.resolve();
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
