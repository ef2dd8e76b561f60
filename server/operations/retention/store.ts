import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { idFloor } from '../../platform/core/ids.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { Children } from '../../platform/storage/removal.ts';
import { NO_MESSAGE_WAITS } from '../../platform/storage/waiting-messages.ts';

export { removeRecords } from '../../platform/storage/removal.ts';

/** Tables of which each team keeps the newest records, some of them for a time only, with the condition for deletion. */

interface Kept {
  /** Time column that orders the records; the id breaks ties. */
  at: 'at' | 'created_at' | 'opened_at' | 'since' | 'stored_at';
  /** Condition of the records that may be deleted: never a record that still has an effect. */
  isOver: (now: number) => RawBuilder<unknown>;
  /** Condition of those that are over and may go now. They count towards the number that is kept, so that only those beyond it are looked at. */
  isFree?: () => RawBuilder<unknown>;
  /** Time from which the record's age counts; of records that are deleted by age. It is never before the time in their id. */
  endedAt?: 'at' | 'resolved_at' | 'closed_at' | 'ended_at' | 'finished_at';
  /** What goes with a record: in batches of their own, because there may be thousands. */
  children?: readonly Children[];
}

const always = sql`1 = 1`;

export const KEPT_TABLES = {
  audit_log: { at: 'at', isOver: () => always, endedAt: 'at' },
  faults: { at: 'created_at', isOver: () => sql`resolved_at is not null`, endedAt: 'resolved_at' },
  // The records of its connections are deleted first (forwards/connections/sweep.ts).
  forwards: {
    at: 'created_at',
    isOver: () =>
      sql`closed_at is not null and not exists (select 1 from forward_connections where forward_connections.forward_id = forwards.id)`,
    endedAt: 'closed_at',
  },
  // A recording stays until its own time is over (terminals/recording/store.ts): nobody hides what was done by opening more terminals.
  terminals: {
    at: 'created_at',
    isOver: () => sql`ended_at is not null and (recording_chunks = 0 or recording_deleted_at is not null)`,
    endedAt: 'ended_at',
  },
  campaigns: {
    at: 'created_at',
    isOver: () => sql`finished_at is not null`,
    endedAt: 'finished_at',
    children: [{ table: 'campaign_targets', column: 'campaign_id' }],
  },
  revocations: { at: 'created_at', isOver: () => sql`due_at is null` },
  invitations: { at: 'created_at', isOver: () => sql`state <> 'open'` },
  enrol_tokens: { at: 'created_at', isOver: (now) => sql`(used_at is not null or revoked_at is not null or expires_at <= ${now})` },
  api_keys: { at: 'created_at', isOver: (now) => sql`(revoked_at is not null or expires_at <= ${now})` },
  agent_sessions: { at: 'opened_at', isOver: () => sql`closed_at is not null` },
  // Threads and messages say what became of them.
  notices: { at: 'stored_at', isOver: () => sql`routed_at is not null` },
  threads: {
    at: 'created_at',
    isOver: () => sql`closed_at is not null`,
    isFree: () => NO_MESSAGE_WAITS,
    children: [
      { table: 'messages', column: 'thread_id' },
      { table: 'thread_items', column: 'thread_id' },
    ],
  },
  // Of a thread that may go on, the newest of each kind and result say what its reader knows (notifications/messages/sending/knowledge.ts).
  // What waits for a digest is not told yet.
  messages: {
    at: 'created_at',
    isOver: () => sql`due_at is null and digest_at is null and (
      (select closed_at from threads where threads.id = messages.thread_id) is not null
      or exists (select 1 from messages as newer where newer.thread_id = messages.thread_id and newer.recipient_id = messages.recipient_id
        and newer.channel = messages.channel and newer.revision > messages.revision and newer.kind = messages.kind
        and newer.state = messages.state and coalesce(newer.reason, '') = coalesce(messages.reason, '')))`,
    // It says what stands in the digest.
    isFree: () =>
      sql`not exists (select 1 from messages as digest where digest.thread_id = messages.digest_id and digest.due_at is not null)`,
  },
  router_state_changes: { at: 'since', isOver: () => sql`until is not null` },
  agents: {
    at: 'created_at',
    isOver: () => sql`revoked_at is not null and not exists (select 1 from routers where routers.agent_id = agents.id)`,
    children: [
      { table: 'agent_sessions', column: 'agent_id' },
      { table: 'agent_link_steps', column: 'agent_id' },
    ],
  },
} as const satisfies Record<string, Kept>;

export type KeptTable = keyof typeof KEPT_TABLES;

/** Tables whose records are deleted by age. */
export type AgedTable = { [T in KeptTable]: (typeof KEPT_TABLES)[T] extends { endedAt: string } ? T : never }[KeptTable];

/** How a table is kept, with what only some have. */
export function keptOf(table: KeptTable): Kept {
  return KEPT_TABLES[table];
}

/** Condition of the records that may be deleted at a time. */
export function mayGo(table: KeptTable, now: number): RawBuilder<unknown> {
  const { isOver, isFree } = keptOf(table);
  return isFree ? sql`${isOver(now)} and ${isFree()}` : isOver(now);
}

/** A position in a table, newest first. */
export interface Cursor {
  at: number;
  id: string;
}

export async function selectTeamIds(db: DbOrTx, after: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('teams').select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** The last of the next `count` deletable records of a team, newest first after the cursor; undefined when there are fewer. */
export async function selectNth(
  db: DbOrTx,
  table: KeptTable,
  { teamId, after, count, now }: { teamId: string; after: Cursor | undefined; count: number; now: number },
): Promise<Cursor | undefined> {
  const { isOver } = KEPT_TABLES[table];
  const at = sql.ref(KEPT_TABLES[table].at);
  const below = after === undefined ? always : sql`(${at}, id) < (${after.at}, ${after.id})`;
  const { rows } = await sql<Cursor>`
    select ${at} as at, id from ${sql.table(table)} where team_id = ${teamId} and ${isOver(now)} and ${below}
    order by ${at} desc, id desc limit 1 offset ${count - 1}`.execute(db);
  return rows[0];
}

/** The oldest deletable records of a team (at most `limit`) that are older than a cursor. */
export async function selectBeyond(
  db: DbOrTx,
  table: KeptTable,
  { teamId, beyond, limit, now }: { teamId: string; beyond: Cursor; limit: number; now: number },
): Promise<string[]> {
  const at = sql.ref(KEPT_TABLES[table].at);
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where team_id = ${teamId} and ${mayGo(table, now)} and (${at}, id) < (${beyond.at}, ${beyond.id})
    order by ${at}, id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Deletable records of all teams (at most `limit`) that ended before a time, behind `after` in the order of their ids. Ids begin with the time
 * at which a record was made, so the primary key alone finds those that may be old enough.
 */
export async function selectAged(
  db: DbOrTx,
  table: AgedTable,
  { before, after, limit, now }: { before: number; after: string; limit: number; now: number },
): Promise<string[]> {
  const { endedAt } = KEPT_TABLES[table];
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where id > ${after} and id < ${idFloor(Math.max(0, before))} and ${sql.ref(endedAt)} < ${before}
    and ${mayGo(table, now)} order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
