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
}

/**
 * Gathers calls into batches: those of one turn of the event loop, and those that come while a batch runs. A call by itself is a batch by
 * itself and waits for nothing; when thousands of agents connect at once, one statement serves hundreds of them.
 */
export class Gathered<Item, Result> {
  readonly #options: GatheredOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  constructor(options: GatheredOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws whatever the batch throws: it fails for all of its calls */
  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#runAll();
    });
  }

  /** Never rejects. */
  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise(setImmediate);
      await this.#runBatch(this.#take());
    }
    this.#isRunning = false;
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
