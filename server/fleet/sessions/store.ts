import { sql } from 'kysely';
import type { EndedBy } from '../../platform/core/tunnel-record.ts';
import type { Page } from '../../platform/core/page.ts';
import { storableText } from '../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { FormerRun, ServerRun, SessionRow } from './types.ts';

/** Inserts, or overwrites what changes while a tunnel lives. */
export async function upsertSessions(tx: Tx, rows: readonly SessionRow[]): Promise<void> {
  const changing = [
    'epoch',
    'opened_at',
    'ready_at',
    'closed_at',
    'agent_version',
    'reset',
    'ended_by',
    'round_trip_min_us',
    'round_trip_p50_us',
    'round_trip_p95_us',
    'pings_answered',
    'pings_lost',
    'bytes_in',
    'bytes_out',
  ] as const;
  await tx
    .insertInto('agent_sessions')
    .values(rows.map((row) => ({ ...row, agent_version: row.agent_version === null ? null : storableText(row.agent_version) })))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => Object.fromEntries(changing.map((column) => [column, eb.ref(`excluded.${column}`)]))),
    )
    .execute();
}

/** Of one agent, newest first. */
export async function selectSessions(db: DbOrTx, teamId: string, agentId: string, page: Page): Promise<SessionRow[]> {
  return db
    .selectFrom('agent_sessions')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .$call(newestFirst(page, 'opened_at'))
    .execute();
}

/** Agents of every team that are neither revoked nor removed: those that ever had a session, and the others. */
export async function countAgents(db: DbOrTx): Promise<{ teamId: string; seen: number; neverSeen: number }[]> {
  const rows = await db
    .selectFrom('agents')
    .select((eb) => [
      'team_id',
      eb.fn.countAll<number | string | bigint>().as('agents'),
      eb.fn.count<number | string | bigint>('connected_at').as('seen'),
    ])
    .where('revoked_at', 'is', null)
    .where('removed_at', 'is', null)
    .groupBy('team_id')
    .execute();
  return rows.map((row) => ({ teamId: row.team_id, seen: Number(row.seen), neverSeen: Number(row.agents) - Number(row.seen) }));
}

export interface StoredLine {
  agent_id: string;
  address: string | null;
  closed_at: number | null;
  ended_by: EndedBy | null;
  sessions: number;
  routers: number;
}

/** What the database knows of the lines of some agents of a team. @param since sessions opened from then on are counted */
export async function selectLines(
  db: DbOrTx,
  teamId: string,
  agentIds: readonly string[],
  since: number,
): Promise<Map<string, StoredLine>> {
  if (agentIds.length === 0) return new Map();
  const { rows } = await sql<StoredLine>`
    select agents.id as agent_id,
      (select address from agent_sessions where agent_id = agents.id order by opened_at desc, id desc limit 1) as address,
      (select closed_at from agent_sessions where agent_id = agents.id and closed_at is not null order by opened_at desc, id desc limit 1) as closed_at,
      (select ended_by from agent_sessions where agent_id = agents.id and closed_at is not null order by opened_at desc, id desc limit 1) as ended_by,
      (select count(*) from agent_sessions where agent_id = agents.id and opened_at > ${since}) as sessions,
      (select count(*) from routers where team_id = ${teamId} and agent_id = agents.id and removed_at is null) as routers
    from agents where team_id = ${teamId} and id in (${sql.join(agentIds)})`.execute(db);
  return new Map(rows.map((row) => [row.agent_id, row]));
}

/** Of a session that is open with another control plane. */
export interface OpenLine {
  agent_id: string;
  address: string;
  epoch: number | null;
  ready_at: number;
}

/** How many agents of each team have a session with any control plane. */
export async function countConnected(db: DbOrTx): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('agents')
    .innerJoin('nodes', 'nodes.id', 'agents.node_id')
    .select((eb) => ['agents.team_id', eb.fn.countAll<number | string | bigint>().as('agents')])
    .where('disconnected_at', 'is', null)
    .where('revoked_at', 'is', null)
    .groupBy('agents.team_id')
    .execute();
  return new Map(rows.map((row) => [row.team_id, Number(row.agents)]));
}

/** Of the session of each of these agents that became ready last. */
export async function selectOpenLines(db: DbOrTx, teamId: string, agentIds: readonly string[]): Promise<Map<string, OpenLine>> {
  if (agentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('agent_sessions')
    .select(['agent_id', 'address', 'epoch', 'ready_at'])
    .$narrowType<{ ready_at: number }>()
    .where('team_id', '=', teamId)
    .where('agent_id', 'in', agentIds)
    .where('ready_at', 'is not', null)
    .where((eb) =>
      eb(
        'epoch',
        '=',
        eb.selectFrom('agents').select('confirmed_epoch').whereRef('agents.id', '=', 'agent_sessions.agent_id').$castTo<number>(),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [row.agent_id, row]));
}

/** Closes sessions that were open when the control plane ended: how they ended is unknown. */
export async function closeOpenSessions(tx: Tx, { endedAt, endedBy }: FormerRun): Promise<void> {
  await tx
    .updateTable('agent_sessions')
    .set((eb) => ({
      closed_at: eb.case().when('opened_at', '>', endedAt).then(eb.ref('opened_at')).else(endedAt).end(),
      ended_by: endedBy,
    }))
    .where('closed_at', 'is', null)
    .execute();
}

/**
 * Closes sessions of control planes that do not count any more, where several serve the database, and those from before there were
 * several. May be repeated.
 * @param otherwiseAt the end of a session whose control plane left no time of its own
 */
export async function closeLostSessions(tx: Tx, otherwiseAt: number): Promise<void> {
  await sql`
    update agent_sessions set
      ended_by = case when runs.stopped_at is null then 'unknown' else 'server_stopped' end,
      closed_at = case when opened_at > coalesce(runs.ended_at, ${otherwiseAt}) then opened_at else coalesce(runs.ended_at, ${otherwiseAt}) end
    from (
      select lost.id, last.stopped_at, coalesce(last.stopped_at, last.alive_at) as ended_at from agent_sessions as lost
      left join server_runs as last
        on last.id = (select id from server_runs where server_runs.node_id = lost.node_id order by id desc limit 1)
      where lost.closed_at is null
        and (lost.node_id is null or not exists (select 1 from nodes where nodes.id = lost.node_id))
    ) as runs
    where agent_sessions.id = runs.id and agent_sessions.closed_at is null`.execute(tx);
}

/** Deletes at most `limit` sessions that ended before then. @returns how many */
export async function deleteSessions(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('agent_sessions').select('id').where('closed_at', '<', before).orderBy('closed_at').limit(limit);
  const { numDeletedRows } = await tx.deleteFrom('agent_sessions').where('id', 'in', old).executeTakeFirst();
  return Number(numDeletedRows);
}

export async function selectLastRun(db: DbOrTx): Promise<ServerRun | undefined> {
  return db.selectFrom('server_runs').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst();
}

/** The run that ended last or goes on, of any control plane. */
export async function selectLatestRun(db: DbOrTx): Promise<ServerRun | undefined> {
  const runs = db.selectFrom('server_runs').selectAll();
  return runs
    .orderBy((eb) => eb.fn.coalesce('stopped_at', 'alive_at'), 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function upsertRun(db: DbOrTx, run: ServerRun): Promise<void> {
  const { alive_at, stopped_at } = run;
  await db
    .insertInto('server_runs')
    .values(run)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ alive_at, stopped_at }))
    .execute();
}

export async function deleteRuns(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('server_runs').where('stopped_at', '<', before).execute();
  await tx.deleteFrom('server_runs').where('alive_at', '<', before).execute();
}
