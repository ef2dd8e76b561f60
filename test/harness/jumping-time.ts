import { systemTime } from '../simulator/index.ts';
import type { TimeSource } from '../simulator/index.ts';

interface Waiting {
  at: number;
  callback: () => void;
  cancel: () => void;
}

/** The machine's own time, which can be made to jump ahead: for a router that is seen over real sockets. */
export class JumpingTime implements TimeSource {
  readonly #real = systemTime();
  readonly #waiting = new Set<Waiting>();
  #ahead = 0;

  now(): number {
    return this.#real.now() + this.#ahead;
  }

  after(ms: number, callback: () => void): () => void {
    const entry: Waiting = { at: this.now() + ms, callback, cancel: () => undefined };
    this.#waiting.add(entry);
    this.#arm(entry);
    return () => {
      entry.cancel();
      this.#waiting.delete(entry);
    };
  }

  jump(ms: number): void {
    this.#ahead += ms;
    for (const entry of this.#waiting) this.#arm(entry);
  }

  #arm(entry: Waiting): void {
    entry.cancel();
    entry.cancel = this.#real.after(entry.at - this.now(), () => {
      this.#waiting.delete(entry);
      entry.callback();
    });
  }
}
