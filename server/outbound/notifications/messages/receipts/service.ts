import type { Clock, Timer } from '../../../../platform/core/clock.ts';
import type { Log } from '../../../../platform/core/log.ts';
import type { Storage } from '../../../../platform/storage/db.ts';
import type { Receipt, ReceiptChannel, Undelivered } from '../../channels/types.ts';
import type { ConsequencesDeps } from '../sending/consequences.ts';
import type { MessageRow } from '../types.ts';
import { arrive, fail } from './apply.ts';
import { selectByRef } from './store.ts';

/** Our own record of what the provider took is a transaction of milliseconds; a busy database may take seconds. */
const LOOK_AGAIN_MS = 5000;
/** Receipts that wait for that. They are of other senders with the same account, or codes that prove a number: both are few at a time. */
const MOST_EARLY = 1000;

export interface ReceiptsDeps extends ConsequencesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** Something has become of a message of this team. */
  onChange: (message: Pick<MessageRow, 'team_id' | 'channel'>, said: 'arrived' | 'failed') => void;
}

/** A message with what its provider said of it. */
interface Told {
  message: MessageRow;
  receipt: Receipt;
}

/** What providers say of messages after they took them. Any control plane may hear it, in any order and several times. */
export class Receipts {
  readonly #deps: ReceiptsDeps;
  /** A provider was faster than our own record. Only a hint: what is lost here is one time in the log. */
  readonly #early = new Set<Timer>();
  #earlyCount = 0;
  readonly #looks = new Set<Promise<unknown>>();
  #isStopped = false;

  constructor(deps: ReceiptsDeps) {
    this.#deps = deps;
  }

  /** Those of messages that nobody knows change nothing. @throws a storage error; the provider may say it again */
  async take(channel: ReceiptChannel, receipts: readonly Receipt[]): Promise<void> {
    const unknown = await this.#apply(channel, receipts);
    if (unknown.length > 0) this.#lookAgain(channel, unknown);
  }

  /** Resolves when nothing is being stored; receipts that wait for their message are forgotten. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#early) timer.cancel();
    this.#early.clear();
    await Promise.all(this.#looks);
  }

  /** @returns those of unknown messages */
  async #apply(channel: ReceiptChannel, receipts: readonly Receipt[]): Promise<Receipt[]> {
    const { storage } = this.#deps;
    if (receipts.length === 0) return [];
    const found = await selectByRef(
      storage.db,
      channel,
      receipts.map(({ ref }) => ref),
    );
    const told = receipts
      .filter(({ ref }) => found.has(ref))
      .map((receipt): Told => ({ message: found.get(receipt.ref)!, receipt }))
      .filter(({ message }) => message.state === 'sent')
      // The same order everywhere, so that two processes do not wait for each other. A message's own receipts keep theirs.
      .toSorted((one, other) => (one.message.id < other.message.id ? -1 : one.message.id > other.message.id ? 1 : 0));
    // First what arrived: what is said to have failed besides did not.
    await this.#storeArrivals(told.filter(({ receipt: { says } }) => typeof says === 'string'));
    for (const { message, receipt } of told) if (typeof receipt.says !== 'string') await this.#storeFailure(message, receipt.says);
    return receipts.filter(({ ref }) => !found.has(ref));
  }

  async #storeArrivals(told: readonly Told[]): Promise<void> {
    if (told.length === 0) return;
    const { storage, clock, onChange } = this.#deps;
    const now = clock.now();
    const changed = await storage.writes.write(async (tx) => {
      const arrived: MessageRow[] = [];
      for (const { message, receipt } of told) if (await arrive(tx, message, receipt, now)) arrived.push(message);
      return arrived;
    });
    for (const message of changed) onChange(message, 'arrived');
  }

  /** In a transaction of its own: it may lock an address besides. */
  async #storeFailure(message: MessageRow, said: Undelivered): Promise<void> {
    const { storage, clock, onChange } = this.#deps;
    const hasFailed = await storage.writes.write((tx) => fail(tx, message, said, clock.now(), this.#deps));
    if (hasFailed) onChange(message, 'failed');
  }

  #lookAgain(channel: ReceiptChannel, receipts: readonly Receipt[]): void {
    const { clock, log } = this.#deps;
    const taken = receipts.slice(0, MOST_EARLY - this.#earlyCount);
    if (this.#isStopped || taken.length === 0) return;
    this.#earlyCount += taken.length;
    const timer = clock.setTimeout(() => {
      this.#early.delete(timer);
      this.#earlyCount -= taken.length;
      const look = this.#apply(channel, taken)
        .catch((error: unknown) => log.warn({ err: error }, 'what a provider said of messages could not be stored'))
        .finally(() => this.#looks.delete(look));
      this.#looks.add(look);
    }, LOOK_AGAIN_MS);
    this.#early.add(timer);
  }
}
