import type { Insertable } from 'kysely';
import { newId } from '../../../../platform/core/ids.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { MessagesTable } from '../../../../platform/storage/schema-notices.ts';
import { EXPIRES_AFTER_MS } from '../schedule.ts';
import { DIGEST, HELD_BACK } from '../types.ts';
import type { PlannedMessage } from './plan.ts';
import { countRecent, selectNotes } from './store.ts';
import type { Note, Recent } from './store.ts';

/** How many messages a person of a team gets in an hour. Beyond that, one says how many more there are. */

const HOUR_MS = 3_600_000;
/** So that it counts those of a storm. */
const NOTE_AFTER_MS = 60_000;

/** More on a telephone is read by nobody; each paid one costs the operator some cents. Mail and addresses of the team have no such limit. */
export const BUDGETS = [
  { channels: ['telegram', 'web_push'], perHour: 30 },
  { channels: ['sms', 'whatsapp'], perHour: 6 },
] as const;

type Row = Insertable<MessagesTable>;
const LIMITED = BUDGETS.flatMap(({ channels }): string[] => [...channels]);
/** What somebody waits for. */
const UNLIMITED_KINDS = new Set(['test', DIGEST]);

function budgetOf(channel: string) {
  return BUDGETS.find(({ channels }) => (channels as readonly string[]).includes(channel));
}

/** Reads what the people of a plan got in the last hour. Nothing is read for channels without a limit. */
export async function readBudget(
  tx: DbOrTx,
  teamId: string,
  planned: readonly Pick<PlannedMessage, 'recipient' | 'reason'>[],
  now: number,
): Promise<Budget> {
  const limited = planned.filter(
    ({ recipient, reason }) => reason === null && recipient.type === 'person' && LIMITED.includes(recipient.channel),
  );
  const people = [...new Set(limited.map(({ recipient }) => recipient.id))];
  if (people.length === 0) return new Budget([], [], now);
  const since = now - HOUR_MS;
  return new Budget(await countRecent(tx, teamId, people, LIMITED, since), await selectNotes(tx, teamId, people, since), now);
}

/** Spends the budgets of people in one transaction. */
export class Budget {
  readonly #spent = new Map<string, number>();
  /** What was spent with each revision of this transaction. */
  readonly #revisions = new Map<string, number>();
  /** When the next "N more" of a person's channel may be sent; null while one waits. */
  readonly #notes: Map<string, number | null>;
  readonly #now: number;

  constructor(recent: readonly Recent[], notes: readonly Note[], now: number) {
    this.#now = now;
    for (const { recipient_id: id, channel, count } of recent) this.#spend(id, channel, count);
    this.#notes = new Map(
      notes.map(({ recipient_id: id, channel, state, at }) => [
        `${id} ${channel}`,
        state === 'pending' || state === 'held' ? null : at + HOUR_MS,
      ]),
    );
  }

  /** The rows as they are to be stored, with those that say how many more there are. */
  apply(rows: readonly Row[]): Row[] {
    return rows.flatMap((row) => {
      const budget = row.recipient_type === 'person' && row.due_at !== null ? budgetOf(row.channel) : undefined;
      if (!budget || UNLIMITED_KINDS.has(row.kind)) return [row];
      if (this.#spendOn(row) <= budget.perHour) return [row];
      const withheld = { state: 'withheld', reason: 'budget', due_at: null, expires_at: null, settled_at: this.#now };
      return [{ ...row, ...withheld }, ...this.#note(row)];
    });
  }

  /** Once for a revision by one channel, however many browsers a person has. @returns what was spent with it */
  #spendOn({ recipient_id: id, channel, thread_id: threadId, revision }: Row): number {
    const name = [id, channel, threadId, revision].join(' ');
    const known = this.#revisions.get(name);
    if (known !== undefined) return known;
    const spent = this.#spend(id, channel, 1);
    this.#revisions.set(name, spent);
    return spent;
  }

  #spend(userId: string, channel: string, count: number): number {
    const name = `${userId} ${String(budgetOf(channel)?.channels)}`;
    const spent = (this.#spent.get(name) ?? 0) + count;
    this.#spent.set(name, spent);
    return spent;
  }

  #note(row: Row): Row[] {
    const name = `${row.recipient_id} ${row.channel}`;
    const next = this.#notes.get(name);
    if (next === null) return [];
    this.#notes.set(name, null);
    const dueAt = Math.max(this.#now + NOTE_AFTER_MS, next ?? 0);
    return [
      {
        ...row,
        id: newId(this.#now),
        kind: HELD_BACK,
        state: 'pending',
        reason: null,
        due_at: dueAt,
        expires_at: dueAt + EXPIRES_AFTER_MS,
      },
    ];
  }
}
