import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from './errors.ts';

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface GatheredOptions<Item, Result> {
  /** Items of one batch. */
  most: number;
  /** @returns the results in the order of the items */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Items with the same key are never in one batch. */
  keyOf?: (item: Item) => string;
  /**
   * From the start of one batch to the start of the next, milliseconds; 0 unless given. A call by itself never waits for it, but when calls
   * keep coming, each batch has those of so long. In time of this process, also under a test's clock: it paces work, and nothing goes by it.
   */
  apartMs?: number;
}

/**
 * Gathers calls into batches: those of one turn of the event loop, and those that come while a batch runs. A call by itself is a batch by
 * itself and waits for nothing; when thousands of agents connect at once, one statement serves hundreds of them. Its owner stops it.
 */
export class Gathered<Item, Result> {
  readonly #options: GatheredOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(options: GatheredOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws whatever the batch throws: it fails for all of its calls; AppError `unavailable` after {@link stop} */
  call(item: Item): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new AppError('unavailable', 'the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Takes no further call. Resolves when all earlier ones have their results: nothing runs afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Never rejects. */
  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#untilNext();
      await this.#runBatch(this.#take());
    }
    this.#running = undefined;
  }

  async #untilNext(): Promise<void> {
    const { apartMs = 0, most } = this.#options;
    await new Promise(setImmediate);
    const left = this.#nextAt - performance.now();
    // A batch that is full gains nothing from more.
    if (left > 1 && this.#waiting.length < most && !this.#isStopped) await pause(left);
    this.#nextAt = performance.now() + apartMs;
  }

  #take(): Waiting<Item, Result>[] {
    const { most, keyOf } = this.#options;
    if (!keyOf) return this.#waiting.splice(0, most);
    const keys = new Set<string>();
    const batch: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    for (const waiting of this.#waiting) {
      const key = keyOf(waiting.item);
      const fits = batch.length < most && !keys.has(key);
      keys.add(key);
      (fits ? batch : left).push(waiting);
    }
    this.#waiting = left;
    return batch;
  }

  async #runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
