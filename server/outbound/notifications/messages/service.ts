import type { SharedUse } from '../../../../runtime/fair-shares.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { DbOrTx, Storage, Tx } from '../../../platform/storage/db.ts';
import type { Revision } from '../threads/types.ts';
import type { AddressBook } from './addresses.ts';
import type { MessageLinks } from '../leaving/links.ts';
import type { Channels } from '../channels/set.ts';
import type { Receipt, ReceiptChannel } from '../channels/types.ts';
import { Receipts } from './receipts/service.ts';
import { Line } from './sending/line.ts';
import { MessageOutcomes } from './sending/outcomes.ts';
import { MessageSender } from './sending/sender.ts';
import { selectOldestDue } from './sending/store.ts';
import { DEFAULT_SENDER_RULES } from './types.ts';
import type { SenderRules } from './types.ts';
import { writeText } from '../texts/write.ts';
import { SharedViews, readView } from './view/read.ts';
import { findReaders, makeDigest } from './digests/make.ts';
import type { Reader } from './digests/make.ts';
import { selectDigestTeams, selectNextDigest } from './digests/store.ts';
import { planRows } from './writing/rows.ts';
import type { RevisionRows } from './writing/rows.ts';
import { writeMessages } from './writing/write.ts';

export interface MessagesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  addresses: AddressBook;
  channels: Channels;
  links: Pick<MessageLinks, 'acknowledgeUrl'>;
  publicUrl: string;
  rules?: SenderRules;
  random?: () => number;
}

/** Who is told of a thread, by which channel, and the sending of it. */
export class MessagesService {
  /** Messages of a team were sent, given up or put off. Covers this process only. */
  readonly changes = new Listeners<{ teamId: string }>();
  readonly #deps: MessagesDeps;
  readonly #sender: MessageSender;
  readonly #receipts: Receipts;
  /** Of the messages that this process has handled. */
  readonly outcomes: MessageOutcomes;

  constructor(deps: MessagesDeps) {
    this.#deps = deps;
    this.outcomes = new MessageOutcomes(Object.keys(deps.channels));
    this.#sender = new MessageSender({
      ...deps,
      rules: deps.rules ?? DEFAULT_SENDER_RULES,
      random: deps.random ?? Math.random,
      views: new SharedViews(),
      line: new Line(),
      outcomes: this.outcomes,
      onAttempt: (teamId) => this.changes.publish({ teamId }),
    });
    this.#receipts = new Receipts({ ...deps, onChange: (message, said) => this.#onReceipt(message, said) });
  }

  /** Attempts in progress. */
  get attempts(): SharedUse {
    return this.#sender.shares;
  }

  /** When the sender last looked, by the monotonic clock. */
  get lookedAt(): number | undefined {
    return this.#sender.lookedAt;
  }

  /** How long the message that is due the longest has waited, seconds; 0 when none is due. */
  async oldestDueSeconds(): Promise<number> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const at = await selectOldestDue(storage.db, now);
    return at === null ? 0 : (now - at) / 1000;
  }

  /** Stores the messages of revisions, in the transaction that decides them. */
  write(tx: Tx, teamId: string, revisions: readonly Revision[], now: number): Promise<void> {
    return writeMessages(this.#deps, tx, teamId, revisions, now);
  }

  /** Digests that are due, and when. */
  readonly digests = {
    teams: (now: number): Promise<string[]> => selectDigestTeams(this.#deps.storage.db, now),
    readers: (teamId: string, now: number): Promise<string[]> => findReaders(this.#deps.storage.db, teamId, now),
    make: (tx: Tx, reader: Reader, now: number): Promise<boolean> => makeDigest(this.#deps, tx, reader, now),
    nextAt: (after: number): Promise<number | null> => selectNextDigest(this.#deps.storage.db, after),
  };

  /** What a thread is about, for the page behind a link. Undefined when it is gone. */
  async describe(teamId: string, threadId: string): Promise<{ subject: string; isOpen: boolean; taker: string | null } | undefined> {
    const { storage, clock, publicUrl } = this.#deps;
    const message = { team_id: teamId, thread_id: threadId, revision: 0 };
    const view = await readView(storage.db, message, { kind: 'open', publicUrl, now: clock.now() });
    if (!view) return undefined;
    const { subject } = writeText(view, { locale: 'en', timeZone: view.siteTimeZone ?? 'UTC' });
    return { subject, isOpen: view.endedAt === null, taker: view.acknowledgedBy };
  }

  /** What {@link write} would store. Queries only. */
  async foretell(db: DbOrTx, teamId: string, revisions: readonly Revision[], now: number): Promise<RevisionRows[]> {
    return planRows(this.#deps, db, teamId, revisions, now);
  }

  /** A provider says what became of messages that it took. @throws a storage error */
  receive(channel: ReceiptChannel, receipts: readonly Receipt[]): Promise<void> {
    return this.#receipts.take(channel, receipts);
  }

  #onReceipt({ team_id: teamId, channel }: { team_id: string; channel: string }, said: 'arrived' | 'failed'): void {
    if (said === 'failed') {
      this.outcomes.add({ channel }, { state: 'failed' });
      // The person's next channel may help out.
      this.wake();
    }
    this.changes.publish({ teamId });
  }

  /** Messages may be due. */
  wake(): void {
    this.#sender.wake();
  }

  /** Resolves when nothing is being sent. */
  idle(): Promise<void> {
    return this.#sender.idle();
  }

  async stop(): Promise<void> {
    await this.#receipts.stop();
    await this.#sender.stop();
  }
}
