import { AppError } from './errors.ts';
import { Pace } from './pace.ts';

/**
 * For what each agent needs that connects: far below the deadlines of its handshake, and at 700 agents a second a statement serves 17 of
 * them. Statements for a few agents each were most of what a fleet cost that connects at once. Milliseconds.
 */
export const AGENTS_APART_MS = 25;

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
  /** How far batches are apart when calls keep coming, milliseconds; 0 unless given. A call by itself never waits for it. */
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
  readonly #pace: Pace;
  #isStopped = false;

  constructor(options: GatheredOptions<Item, Result>) {
    this.#options = options;
    this.#pace = new Pace(options.apartMs ?? 0);
  }

  /** @throws whatever the batch throws: it fails for all of its calls; AppError `unavailable` after {@link stop} */
  call(item: Item): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new AppError('unavailable', 'the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // A batch that is full gains nothing from more.
      if (this.#waiting.length >= this.#options.most) this.#pace.hurry();
      this.#running ??= this.#runAll();
    });
  }

  /** Takes no further call. Resolves when all earlier ones have their results: nothing runs afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pace.hurry();
    await this.#running;
  }

  /** Never rejects. */
  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise(setImmediate);
      await this.#pace.next();
      await this.#runBatch(this.#take());
    }
    this.#running = undefined;
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
