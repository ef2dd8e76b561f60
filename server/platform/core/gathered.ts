import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from './errors.ts';
import { Pace } from './pace.ts';

/**
 * For what each agent needs that connects: far below the deadlines of its handshake, and at 700 agents a second a statement serves 17 of
 * them. Statements for a few agents each were most of what a fleet cost that connects at once. Milliseconds.
 */
export const AGENTS_APART_MS = 25;

/** Batches of reads for requests: one that a broken connection holds up for half a minute delays no others, and the other connections stay free. */
export const READS_AT_ONCE = 3;

/**
 * Parties for which no batch waits when all of them are back: 8 agents with 500 routers each have them stored in about 4 s. More of them make
 * batches that are worth a wait, such as those of a fleet that connects at once.
 */
const FEW = 8;

interface Waiting<Item, Result> {
  item: Item;
  /** Runs something as a part of this call. */
  asPart: <T>(work: () => T) => T;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface GatheredOptions<Item, Result> {
  /** Items of one batch. */
  most: number;
  /** Runs as a part of the first call, so that requests pay for it from their share of the database. @returns the results in the order of the items */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Items with the same key are never in one batch. */
  keyOf?: (item: Item) => string;
  /**
   * How far batches are apart when calls keep coming, milliseconds; 0 unless given. A call by itself never waits for it; with keys, nor does a
   * batch when the last one was of few parties and all of them are back.
   */
  apartMs?: number;
  /** Batches that run at the same time; 1 unless given. With more, one that hangs holds up no others. Not with keys. */
  atOnce?: number;
}

/**
 * Gathers calls into batches: those of one turn of the event loop, and those that come while as many batches run as may. A call by itself is a batch by
 * itself and waits for nothing; when thousands of agents connect at once, one statement serves hundreds of them. Its owner stops it.
 */
export class Gathered<Item, Result> {
  readonly #options: GatheredOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;
  readonly #batches = new Set<Promise<void>>();
  readonly #pace: Pace;
  /** Keys of the last batch that have not called again. */
  readonly #away = new Set<string>();
  /** Items of the last batch. */
  #last = 0;
  #isStopped = false;

  constructor(options: GatheredOptions<Item, Result>) {
    this.#options = options;
    this.#pace = new Pace(options.apartMs ?? 0);
  }

  /** @throws whatever the batch throws: it fails for all of its calls; AppError `unavailable` after {@link stop} */
  call(item: Item): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new AppError('unavailable', 'the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, asPart: AsyncLocalStorage.snapshot(), resolve, reject });
      if (this.#options.keyOf) this.#away.delete(this.#options.keyOf(item));
      if (this.#isWhole()) this.#pace.hurry();
      this.#running ??= this.#runAll();
    });
  }

  /** Takes no further call. Resolves when all earlier ones have their results: nothing runs afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pace.hurry();
    await this.#running;
    await Promise.all(this.#batches);
  }

  /** Never rejects. */
  async #runAll(): Promise<void> {
    const { atOnce = 1 } = this.#options;
    while (this.#waiting.length > 0) {
      await new Promise(setImmediate);
      if (this.#isWhole()) this.#pace.hurry();
      await this.#pace.next();
      const batch = this.#runBatch(this.#take()).finally(() => this.#batches.delete(batch));
      this.#batches.add(batch);
      if (this.#batches.size >= atOnce) await Promise.race(this.#batches);
    }
    this.#running = undefined;
  }

  /**
   * Whether the next batch gains nothing from a wait: it is full, or everybody of the last one is back. An agent reports its hundreds of routers
   * one by one, and one was stored in each interval. The next batch is no smaller than the last one.
   */
  #isWhole(): boolean {
    const { most, keyOf } = this.#options;
    return this.#waiting.length >= most || (keyOf !== undefined && this.#last <= FEW && this.#away.size === 0);
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
    this.#last = batch.length;
    this.#away.clear();
    for (const { item } of batch) this.#away.add(keyOf(item));
    for (const { item } of left) this.#away.delete(keyOf(item));
    return batch;
  }

  async #runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await batch[0]!.asPart(() => this.#options.run(batch.map(({ item }) => item)));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
