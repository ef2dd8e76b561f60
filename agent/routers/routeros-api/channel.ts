import { type Deadline, onExpiry, toError, tooLate } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import { replyMemory } from '../../core/reply-memory.ts';
import type { CommandReply, RouterRow } from '../adapter.ts';
import type { GuardedConnector } from './connector.ts';
import { RouterTraps, type Trap } from './errors.ts';
import { parseAttribute } from './framing.ts';
import { Channel } from './library.ts';

export interface ReplyLimits {
  /** Rows of one reply. */
  maxRows: number;
  /** Bytes of one reply: its text plus an overhead per row. */
  maxBytes: number;
}

export interface ChannelOptions {
  deadline: Deadline;
  limits: ReplyLimits;
  /** Called for each row as it arrives; without it rows are collected in the reply. */
  onRow?: ((row: RouterRow) => void) | undefined;
}

/** Memory of a row beside its text: the object and string headers. */
const ROW_OVERHEAD_BYTES = 64;

/** Converts words to properties. Ignores words that are not attributes. */
export function toRow(words: readonly string[]): RouterRow {
  const row: RouterRow = {};
  for (const word of words) {
    const attribute = parseAttribute(word);
    if (attribute) row[attribute[0]] = attribute[1];
  }
  return row;
}

/**
 * One command on one tag. Its promise always settles: by `!done`, by the deadline or the signal (with /cancel to the router), by a
 * limit, or by the end of the connection.
 */
export class GuardedChannel extends Channel {
  readonly #connector: GuardedConnector;
  readonly #options: ChannelOptions;
  readonly #rows: RouterRow[] = [];
  readonly #traps: Trap[] = [];
  readonly #room = replyMemory.claim();
  #rowCount = 0;
  #bytes = 0;
  #settle: ((outcome: CommandReply | AgentError) => void) | undefined;

  constructor(connector: GuardedConnector, options: ChannelOptions) {
    super(connector);
    this.#connector = connector;
    this.#options = options;
    this.id = connector.nextTag();
  }

  /**
   * Sends the sentence. Takes over the array, because the library appends to it.
   * @throws AgentError `rejected`, `outcome_unknown`, `router_unreachable`, `not_allowed`
   */
  start(words: string[]): Promise<CommandReply> {
    return new Promise((resolve, reject) => {
      const refusal = tooLate(this.#options.deadline) ?? this.#connector.unwritableReason();
      if (refusal !== undefined) {
        reject(new AgentError('router_unreachable', refusal));
        return;
      }
      const endDeadline = onExpiry(this.#options.deadline, (reason) => {
        this.#expire(reason);
      });
      this.#settle = (outcome) => {
        endDeadline();
        if (outcome instanceof AgentError) reject(outcome);
        else resolve(outcome);
      };
      this.#connector.waiting.set(this.id, (reason) => {
        this.#finish(this.#failure(reason));
      });
      this.write(words, true, false);
    });
  }

  /** Guard: knows `!empty`, keeps every trap and its category, and never throws into the socket callback. */
  override processPacket(packet: string[]): void {
    try {
      this.#reply(packet[0], packet.slice(1));
    } catch (error) {
      this.#abandon(new AgentError('internal', `reading a reply failed: ${toError(error).message}`, { cause: error }));
    }
  }

  #reply(reply: string | undefined, words: string[]): void {
    if (reply !== '!done' && !this.#admit(words)) return;
    if (reply === '!re') this.#row(words);
    else if (reply === '!trap') this.#trap(toRow(words));
    else if (reply === '!done') this.#done(toRow(words));
    // Ignores `!empty` (7.18+) and unknown reply words: `!done` follows.
  }

  /** @returns false when the answer is too long and was aborted. Rows for `onRow` are not kept, so they do not count. */
  #admit(words: string[]): boolean {
    const { limits, onRow } = this.#options;
    if (onRow) return true;
    let bytes = ROW_OVERHEAD_BYTES;
    for (const word of words) bytes += Buffer.byteLength(word);
    this.#bytes += bytes;
    this.#rowCount += 1;
    if (this.#rowCount > limits.maxRows || this.#bytes > limits.maxBytes) {
      this.#abandon(new AgentError('not_allowed', `the answer is larger than ${limits.maxRows} rows or ${limits.maxBytes} bytes`));
      return false;
    }
    if (this.#room.grow(bytes)) return true;
    this.#abandon(new AgentError('not_allowed', 'not enough memory for an answer this long beside those of other routers'));
    return false;
  }

  #row(words: string[]): void {
    const { onRow } = this.#options;
    if (onRow) onRow(toRow(words));
    else this.#rows.push(toRow(words));
  }

  #trap({ message = 'no reason given', category }: RouterRow): void {
    // Limited, because a listen may be answered by any number of traps.
    if (this.#traps.length >= 100) return;
    this.#traps.push({ message, category: category === undefined ? undefined : Number(category) });
  }

  #done({ ret }: RouterRow): void {
    if (this.#traps.length > 0) this.#finish(new RouterTraps(this.#traps));
    else this.#finish({ rows: this.#rows, ...(ret === undefined ? {} : { ret }) });
  }

  #expire(reason: string): void {
    this.#abandon(this.#failure(reason));
  }

  /** A trap counts as the router's answer even if `!done` did not follow in time. */
  #failure(reason: string): AgentError {
    return this.#traps.length > 0 ? new RouterTraps(this.#traps) : new AgentError('outcome_unknown', reason);
  }

  /** Guard: cancels an abandoned command on the router and ignores what it still sends. */
  #abandon(outcome: AgentError): void {
    if (!this.#settle) return;
    this.#finish(outcome);
    if (this.#connector.unwritableReason() !== undefined) return;
    this.#connector.write(['/cancel', `=tag=${this.id}`, `.tag=${this.#connector.nextTag()}`]);
  }

  #finish(outcome: CommandReply | AgentError): void {
    const settle = this.#settle;
    if (!settle) return;
    this.#settle = undefined;
    this.#room.release();
    this.#connector.waiting.delete(this.id);
    this.close(true);
    settle(outcome);
  }
}
