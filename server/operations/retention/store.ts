import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { DbOrTx } from '../../platform/storage/db.ts';

/** Tables of which only the newest records of each team are kept, with the condition for deletion. */

interface Kept {
  /** Time column that orders the records; the id breaks ties. */
  at: 'at' | 'created_at' | 'opened_at' | 'since' | 'stored_at';
  /** Condition of the records that may be deleted: never a record that still has an effect. */
  isOver: (now: number) => RawBuilder<unknown>;
}

const always = sql`1 = 1`;

export const KEPT_TABLES = {
  audit_log: { at: 'at', isOver: () => always },
  faults: { at: 'created_at', isOver: () => sql`resolved_at is not null` },
  // The records of its connections are deleted first (forwards/connections/sweep.ts keeps them for 30 days).
  forwards: {
    at: 'created_at',
    isOver: () =>
      sql`closed_at is not null and not exists (select 1 from forward_connections where forward_connections.forward_id = forwards.id)`,
  },
  // A recording stays until its own time is over (terminals/recording/store.ts): nobody hides what was done by opening more terminals.
  terminals: { at: 'created_at', isOver: () => sql`ended_at is not null and (recording_chunks = 0 or recording_deleted_at is not null)` },
  campaigns: { at: 'created_at', isOver: () => sql`finished_at is not null` },
  revocations: { at: 'created_at', isOver: () => sql`due_at is null` },
  invitations: { at: 'created_at', isOver: () => sql`state <> 'open'` },
  enrol_tokens: { at: 'created_at', isOver: (now) => sql`(used_at is not null or revoked_at is not null or expires_at <= ${now})` },
  api_keys: { at: 'created_at', isOver: (now) => sql`(revoked_at is not null or expires_at <= ${now})` },
  agent_sessions: { at: 'opened_at', isOver: () => sql`closed_at is not null` },
  // Threads and messages say what became of them.
  notices: { at: 'stored_at', isOver: () => sql`routed_at is not null` },
  // Its messages go with it.
  threads: { at: 'created_at', isOver: () => sql`closed_at is not null` },
  // Of a thread that may go on, the newest of each kind and result say what its reader knows (notifications/messages/sending/knowledge.ts).
  messages: {
    at: 'created_at',
    isOver: () => sql`due_at is null and (
      (select closed_at from threads where threads.id = messages.thread_id) is not null
      or exists (select 1 from messages as newer where newer.thread_id = messages.thread_id and newer.recipient_id = messages.recipient_id
        and newer.channel = messages.channel and newer.revision > messages.revision and newer.kind = messages.kind
        and newer.state = messages.state and coalesce(newer.reason, '') = coalesce(messages.reason, '')))`,
  },
  router_state_changes: { at: 'since', isOver: () => sql`until is not null` },
  agents: {
    at: 'created_at',
    isOver: () => sql`revoked_at is not null and not exists (select 1 from routers where routers.agent_id = agents.id)`,
  },
} as const satisfies Record<string, Kept>;

export type KeptTable = keyof typeof KEPT_TABLES;

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

/** Deletes at most `limit` deletable records of a team that are older than a cursor. Inside a write. @returns the number deleted */
export async function deleteBeyond(
  tx: DbOrTx,
  table: KeptTable,
  { teamId, beyond, limit, now }: { teamId: string; beyond: Cursor; limit: number; now: number },
): Promise<number> {
  const { isOver } = KEPT_TABLES[table];
  const at = sql.ref(KEPT_TABLES[table].at);
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where team_id = ${teamId} and id in (
      select id from ${sql.table(table)} where team_id = ${teamId} and ${isOver(now)} and (${at}, id) < (${beyond.at}, ${beyond.id})
      order by ${at}, id limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}
