import type { SharedUse } from '../../../../runtime/fair-shares.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { Revision } from '../threads/types.ts';
import type { AddressBook } from './addresses.ts';
import type { Channels } from '../channels/set.ts';
import { MessageSender } from './sending/sender.ts';
import { DEFAULT_SENDER_RULES } from './types.ts';
import type { SenderRules } from './types.ts';
import { writeMessages } from './writing/write.ts';

export interface MessagesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  addresses: AddressBook;
  channels: Channels;
  publicUrl: string;
  rules?: SenderRules;
  random?: () => number;
}

/** Who is told of a thread, by which channel, and the sending of it. */
export class MessagesService {
  readonly #deps: MessagesDeps;
  readonly #sender: MessageSender;

  constructor(deps: MessagesDeps) {
    this.#deps = deps;
    this.#sender = new MessageSender({ ...deps, rules: deps.rules ?? DEFAULT_SENDER_RULES, random: deps.random ?? Math.random });
  }

  /** Attempts in progress. */
  get attempts(): SharedUse {
    return this.#sender.shares;
  }

  /** Stores the messages of revisions, in the transaction that decides them. */
  write(tx: Tx, teamId: string, revisions: readonly Revision[], now: number): Promise<void> {
    return writeMessages(this.#deps, tx, teamId, revisions, now);
  }

  /** Messages may be due. */
  wake(): void {
    this.#sender.wake();
  }

  /** Resolves when nothing is being sent. */
  idle(): Promise<void> {
    return this.#sender.idle();
  }

  stop(): Promise<void> {
    return this.#sender.stop();
  }
}
