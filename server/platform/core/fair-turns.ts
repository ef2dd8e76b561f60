import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import { FairQueue } from './fair-queue.ts';

/** Limits concurrent work; callers beyond the limit wait in a fair queue. */
export class FairTurns {
  readonly shares: FairShares;
  readonly #waiting = new FairQueue<() => void>();

  constructor(limits: ShareLimits) {
    this.shares = new FairShares(limits);
  }

  /** Number of waiting callers. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs the work when its turn comes. @throws what the work throws */
  async run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.add(holder, resolve);
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.shares.giveBack(holder);
      this.#startNext();
    }
  }

  #startNext(): void {
    for (;;) {
      const turn = this.#waiting.next((holder) => this.shares.limitFor(holder) === undefined);
      if (!turn) return;
      this.shares.take(turn.holder);
      turn.item();
    }
  }
}
