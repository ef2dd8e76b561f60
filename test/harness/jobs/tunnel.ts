import type { AgentMessage, ServerMessage } from '../../../protocol/index.ts';
import type { Chance } from './random.ts';
import { turns } from './random.ts';

/**
 * One connection. In order within itself, like every connection; messages are delayed, sometimes come twice, and all
 * that is under way is lost when it closes.
 */
export class FakeTunnel {
  isOpen = true;
  readonly #chance: Chance;
  readonly #closers: (() => void)[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** A direction of it: `deliver` is awaited before the next message. */
  direction<M extends AgentMessage | ServerMessage>(deliver: (message: M) => Promise<void>): (message: M) => boolean {
    let last: Promise<void> = Promise.resolve();
    return (message) => {
      if (!this.isOpen) return false;
      const copies = this.#chance.happens(0.05) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) last = last.then(() => this.#carry(message, deliver));
      return true;
    };
  }

  async #carry<M>(message: M, deliver: (message: M) => Promise<void>): Promise<void> {
    await turns(this.#chance.int(0, 3));
    if (!this.isOpen) return;
    try {
      await deliver(message);
    } catch {
      this.close();
    }
  }

  onClose(closer: () => void): void {
    this.#closers.push(closer);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const closer of this.#closers) closer();
  }
}
