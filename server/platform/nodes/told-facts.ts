import { z } from 'zod';
import { publishList } from '../bus/publish-list.ts';
import type { Bus } from '../bus/types.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Question, SharedLook } from './shared-look.ts';

/** Hints that come together are read together. */
const GATHERED_MS = 50;
/** Ids of one hint, and of one read. */
const IDS_AT_ONCE = 500;
/** With more ids that wait, everything that has changed is read instead. */
const MOST_HINTED = 20_000;

/** Without ids: so much has changed that everything is read that has. */
const hint = z.object({ ids: z.array(z.string()).max(IDS_AT_ONCE) });

export interface ToldFactsOptions {
  cluster: { bus: Pick<Bus, 'publish' | 'listen'>; looks: Pick<SharedLook, 'ask'> };
  clock: Pick<Clock, 'setTimeout'>;
  log: Pick<Log, 'warn'>;
  /** Of the hints. */
  subject: string;
  /** The log message when a read fails. */
  failure: string;
  /** Whether any have changed. */
  asks: Question['asks'];
  /** Reads what has changed since the last call. */
  readChanged: () => Promise<void>;
  /** Reads these records. */
  readOf: (ids: readonly string[]) => Promise<void>;
}

/**
 * Facts that other control planes write into the database. They hint at what they have stored, which is then read at once; without hints it
 * is found by the look that all share. Reads follow each other, so that what was read last is the newest.
 */
export class ToldFacts {
  readonly #options: ToldFactsOptions;
  /** Ids that others have hinted at. */
  #hinted = new Set<string>();
  /** Ids that this process wants to know, whether or not they have changed. */
  #wanted = new Set<string>();
  #isDue = false;
  #timer: Timer | undefined;
  #isReading = false;
  #reading: Promise<void> = Promise.resolve();
  #isStopped = false;
  #stopAsking: (() => Promise<void>) | undefined;

  constructor(options: ToldFactsOptions) {
    this.#options = options;
    const { cluster, subject } = options;
    cluster.bus.listen(subject, (value) => this.#onHint(hint.parse(value).ids));
  }

  /** Reads everything for the first time. @throws AppError when the database cannot be used */
  async start(): Promise<void> {
    const { cluster, asks, failure, readChanged } = this.#options;
    await readChanged();
    this.#stopAsking = cluster.looks.ask({ asks, failure, onAnswer: (hasChanged) => this.#onLook(hasChanged) });
  }

  /** Resolves when the read under way has ended: nothing is read afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#stopAsking?.();
    await this.#reading;
  }

  /** Hints to the others that these records were stored. */
  tell(ids: readonly string[]): void {
    const { cluster, subject } = this.#options;
    publishList(cluster.bus, subject, ids, { most: IDS_AT_ONCE, hintOf: (some) => ({ ids: some }) });
  }

  /** Hints to the others that many records were stored. */
  tellAll(): void {
    this.#options.cluster.bus.publish(this.#options.subject, { ids: [] });
  }

  /** Reads these records soon. */
  want(ids: Iterable<string>): void {
    for (const id of ids) this.#wanted.add(id);
    this.#soon();
  }

  /** Also reads what could not be read before. */
  #onLook(hasChanged: boolean): Promise<void> {
    this.#isDue ||= hasChanged;
    return this.#read();
  }

  #onHint(ids: readonly string[]): void {
    for (const id of ids) this.#hinted.add(id);
    if (ids.length === 0 || this.#hinted.size > MOST_HINTED) {
      this.#hinted = new Set();
      this.#isDue = true;
    }
    this.#soon();
  }

  #soon(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, GATHERED_MS);
  }

  /** Never rejects: what could not be read is read with the next look. */
  #read(): Promise<void> {
    if (!this.#isReading) this.#reading = this.#readAll();
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const { log, failure } = this.#options;
    this.#isReading = true;
    while (!this.#isStopped && (this.#isDue || this.#hinted.size + this.#wanted.size > 0)) {
      const wanted = this.#wanted;
      try {
        await this.#readWaiting();
      } catch (error) {
        log.warn({ err: error }, failure);
        // What others have hinted at has changed, so the next look reads it with everything that has.
        this.#isDue = true;
        for (const id of wanted) this.#wanted.add(id);
        break;
      }
    }
    // In the turn in which nothing waits any more: whatever comes after it begins anew.
    this.#isReading = false;
  }

  async #readWaiting(): Promise<void> {
    const { readChanged, readOf } = this.#options;
    const isDue = this.#isDue;
    const ids = [...new Set([...this.#wanted, ...this.#hinted])];
    this.#isDue = false;
    this.#hinted = new Set();
    this.#wanted = new Set();
    if (isDue) await readChanged();
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) await readOf(ids.slice(from, from + IDS_AT_ONCE));
  }
}
