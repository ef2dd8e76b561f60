import { sql } from 'kysely';
import { z } from 'zod';
import type { SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { fromJson, inChunks, storableText, toJson } from '../../platform/storage/columns.ts';
import type { DbOrTx, Storage } from '../../platform/storage/db.ts';
import { removeChildren } from '../../platform/storage/removal.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import { padded } from '../../platform/storage/padded.ts';
import { RAN_WITHOUT_BEGIN, TAKEN_PARTS } from './types.ts';
import type { BackupRecord, PartRecord, TakenPart } from './types.ts';

/** Backups and their parts. Functions that take a `Tx` write. Every query for a caller names the caller's team. */

/** A job that ended and left a backup on its router. */
export interface EndedJob {
  id: string;
  team_id: string;
  router_id: string;
}

/** Once for each job, however often its end is heard of: a backup that was deleted does not come back. */
export async function recordBackup(db: DbOrTx, job: EndedJob, { id, now }: { id: string; now: number }): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ backup_to_record: 0 })
    .where('id', '=', job.id)
    .where('team_id', '=', job.team_id)
    .where('backup_to_record', '=', 1)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await db
    .insertInto('backups')
    .values({
      id,
      team_id: job.team_id,
      router_id: job.router_id,
      job_id: job.id,
      origin: 'job',
      wanted: null,
      state: 'pending',
      attempts: 0,
      due_at: now,
      error: null,
      created_at: now,
      stored_at: null,
    })
    // One job must not keep the others of its transaction from being recorded.
    .onConflict((conflict) => conflict.column('job_id').doNothing())
    .execute();
}

/** A backup without a job. @throws a unique violation when one of the router waits already */
export async function insertRequested(db: DbOrTx, backup: RequestedBackup): Promise<BackupRecord> {
  return db
    .insertInto('backups')
    .values({
      id: backup.id,
      team_id: backup.teamId,
      router_id: backup.routerId,
      job_id: null,
      origin: 'request',
      wanted: toJson(backup.parts),
      state: 'pending',
      attempts: 0,
      due_at: backup.now,
      error: null,
      created_at: backup.now,
      stored_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const wantedColumn = z.array(z.enum(TAKEN_PARTS));

/** The parts of a backup without a job; undefined for one with a job. */
export function requestedParts({ wanted }: BackupRecord): TakenPart[] | undefined {
  return wanted === null ? undefined : wantedColumn.parse(fromJson(wanted));
}

export interface RequestedBackup {
  id: string;
  teamId: string;
  routerId: string;
  parts: readonly TakenPart[];
  now: number;
}

/** The same text as the condition of the index `jobs_with_backup_to_record`. */
const HAS_BACKUP_TO_RECORD = sql<SqlBool>`backup_to_record = 1 and phase in ('done', 'unknown') and (started_at is not null
  or reason in (${sql.join(RAN_WITHOUT_BEGIN.map((reason) => sql.lit(reason)))}) or (reason = 'script_error' and output is not null))`;

/** Jobs (at most `limit`) that have left a backup which was not recorded, because the server died in between; the oldest first. */
export async function selectMissed(db: DbOrTx, limit: number): Promise<EndedJob[]> {
  return db
    .selectFrom('jobs')
    .select(['id', 'team_id', 'router_id'])
    .where(HAS_BACKUP_TO_RECORD)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}

export { isRouterThere } from '../../platform/storage/router-lock.ts';
export { isUnique } from '../../platform/storage/storage-errors.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';
export { selectDueTeams } from '../../platform/storage/due-teams.ts';

export interface DueBackup {
  id: string;
  team_id: string;
  /** The agent that has the router now. */
  agent_id: string;
}

/** Due backups of a team (at most `limit`), the longest due first; none of busy agents. */
export async function selectDue(
  db: DbOrTx,
  query: { teamId: string; now: number; busyAgents: readonly string[]; limit: number },
): Promise<DueBackup[]> {
  let due = db
    .selectFrom('backups')
    .innerJoin('routers', (join) => join.onRef('routers.id', '=', 'backups.router_id').onRef('routers.team_id', '=', 'backups.team_id'))
    .select(['backups.id', 'backups.team_id', 'routers.agent_id'])
    .where('backups.team_id', '=', query.teamId)
    .where('backups.due_at', '<=', query.now);
  if (query.busyAgents.length > 0) due = due.where('routers.agent_id', 'not in', query.busyAgents);
  return due.orderBy('backups.due_at').orderBy('backups.id').limit(query.limit).execute();
}

/** Claims due backups (by id, of all teams): no other process gets them before `until`. */
export async function claimDue(db: DbOrTx, claim: { ids: readonly string[]; now: number; until: number }): Promise<BackupRecord[]> {
  return db
    .updateTable('backups')
    .set({ due_at: claim.until })
    .where('id', 'in', claim.ids)
    .where('due_at', '<=', claim.now)
    .returningAll()
    .execute();
}

/** The agent and entry of the router; undefined when it belongs to no agent. */
export async function selectWay(
  db: DbOrTx,
  { team_id: teamId, router_id: routerId }: BackupRecord,
): Promise<{ agentId: string; router: string; hardwareId: string } | undefined> {
  const row = await db
    .selectFrom('routers')
    .select(['agent_id', 'agent_router', 'hardware_id'])
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('agent_router', '<>', '')
    .executeTakeFirst();
  return row && { agentId: row.agent_id, router: row.agent_router, hardwareId: row.hardware_id };
}

/** Agents whose backups are looked for by one statement. */
const AGENTS_AT_ONCE = 100;

/** Backups that are still on the routers of these agents and are planned for later than `now`. */
export async function selectWaitingOf(db: DbOrTx, agentIds: readonly string[], now: number): Promise<string[]> {
  const ids: string[] = [];
  for (const chunk of inChunks(agentIds, AGENTS_AT_ONCE)) {
    const rows = await db
      .selectFrom('routers')
      .innerJoin('backups', 'backups.router_id', 'routers.id')
      .select('backups.id')
      .where('routers.agent_id', 'in', padded(chunk))
      // `|| ''` keeps SQLite from reading all backups of the team, or of the router.
      .where(sql<SqlBool>`(backups.team_id || '') = routers.team_id`)
      .where('backups.due_at', '>', now)
      .where('backups.attempts', '=', 0)
      .execute();
    for (const { id } of rows) ids.push(id);
  }
  return ids;
}

/** Makes backups (by id, of all teams) due that are planned for later and were not tried yet. */
export async function hasten(db: DbOrTx, ids: readonly string[], now: number): Promise<void> {
  for (const chunk of inChunks(ids))
    await db
      .updateTable('backups')
      .set({ due_at: now })
      .where('id', 'in', chunk)
      .where('due_at', '>', now)
      .where('attempts', '=', 0)
      .execute();
}

export interface NewPart extends PartRecord {
  team_id: string;
  /** Encrypted. */
  content: string;
  stored_at: number;
}

export async function insertPart(db: DbOrTx, part: NewPart): Promise<void> {
  await db
    .insertInto('backup_parts')
    .values(part)
    .onConflict((conflict) => conflict.columns(['backup_id', 'part']).doNothing())
    .execute();
}

export interface Progress {
  state: string;
  attempts: number;
  dueAt: number | null;
  error: string | null;
  storedAt: number | null;
}

/** @param job true: the job shows the backup from now on */
export async function updateBackup(db: DbOrTx, backup: BackupRecord, next: Progress): Promise<void> {
  const { id, team_id: teamId, job_id: jobId } = backup;
  await db
    .updateTable('backups')
    .set({
      state: next.state,
      attempts: next.attempts,
      due_at: next.dueAt,
      error: next.error === null ? null : storableText(next.error),
      stored_at: next.storedAt,
    })
    .where('id', '=', id)
    .where('team_id', '=', teamId)
    .execute();
  if (next.state !== 'stored' || backup.state === 'stored' || jobId === null) return;
  await db.updateTable('jobs').set({ backup_id: id }).where('id', '=', jobId).where('team_id', '=', teamId).execute();
}

/** Newest first. */
export async function selectBackups(db: DbOrTx, query: { teamId: string; routerId: string; page: Page }): Promise<BackupRecord[]> {
  const rows = db.selectFrom('backups').selectAll().where('team_id', '=', query.teamId).where('router_id', '=', query.routerId);
  return rows.$call(newestFirst(query.page)).execute();
}

export async function selectBackup(
  db: DbOrTx,
  { teamId, routerId, ...key }: { teamId: string; routerId: string } & ({ id: string } | { jobId: string }),
): Promise<BackupRecord | undefined> {
  const rows = db.selectFrom('backups').selectAll().where('team_id', '=', teamId).where('router_id', '=', routerId);
  const found = 'id' in key ? rows.where('id', '=', key.id) : rows.where('job_id', '=', key.jobId);
  return found.executeTakeFirst();
}

/** Of backups (at most 1,000) that belong to the team, without their content. */
export async function selectParts(db: DbOrTx, teamId: string, backupIds: readonly string[]): Promise<PartRecord[]> {
  if (backupIds.length === 0) return [];
  return db
    .selectFrom('backup_parts')
    .select(['backup_id', 'part', 'size', 'sha256'])
    .where('team_id', '=', teamId)
    .where('backup_id', 'in', backupIds)
    .execute();
}

/** Encrypted. */
export async function selectContent(db: DbOrTx, teamId: string, backupId: string, part: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('backup_parts')
    .select('content')
    .where('team_id', '=', teamId)
    .where('backup_id', '=', backupId)
    .where('part', '=', part)
    .executeTakeFirst();
  return row?.content;
}

/** Backups (at most `limit`, of all teams) that are too old, except those that are still to be fetched or removed from their router. */
export async function selectAged(db: DbOrTx, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('backups')
    .select('id')
    .where('created_at', '<', before)
    .where('due_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Routers of all teams, removed ones too, behind `after` in the order of their ids. */
export async function selectRouterIds(db: DbOrTx, after: string, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('routers').select('id').where('id', '>', after).orderBy('id').limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** Backups of some routers (at most `limit`) that are beyond the number kept for a router. Lost ones take no other's place. */
export async function selectSurplus(
  db: DbOrTx,
  { routerIds, keepPerRouter, limit }: { routerIds: readonly string[]; keepPerRouter: number; limit: number },
): Promise<string[]> {
  const ranked = db
    .selectFrom('backups')
    .select('id')
    .where('router_id', 'in', routerIds)
    .select(
      sql<number>`row_number() over (
        partition by router_id, coalesce(schedule_id, ''), state = 'lost' order by created_at desc, id desc)`.as('place'),
    );
  const rows = await db.selectFrom(ranked.as('ranked')).select('id').where('place', '>', keepPerRouter).limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** The oldest backups of a team (at most `limit`) to delete so that at most `most` bytes remain. Adds up sizes from an index. */
export async function selectBeyond(
  db: DbOrTx,
  { teamId, most, limit }: { teamId: string; most: number; limit: number },
): Promise<string[]> {
  const { bytes } = await db
    .selectFrom('backup_parts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>('size'), eb.lit(0)).as('bytes'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  let surplus = Number(bytes) - most;
  if (surplus <= 0) return [];
  const oldest = await db
    .selectFrom('backups')
    .innerJoin('backup_parts', 'backup_parts.backup_id', 'backups.id')
    .select((eb) => ['backups.id', eb.fn.sum<number | string>('backup_parts.size').as('bytes')])
    .where('backups.team_id', '=', teamId)
    .groupBy(['backups.id', 'backups.created_at'])
    .orderBy('backups.created_at')
    .orderBy('backups.id')
    .limit(limit)
    .execute();
  const beyond: string[] = [];
  for (const backup of oldest) {
    if (surplus <= 0) break;
    beyond.push(backup.id);
    surplus -= Number(backup.bytes);
  }
  return beyond;
}

/** Deletes the files of some backups, one after the other: they have megabytes. Ends early when `signal` aborts. */
export function removeFiles(storage: Storage, ids: readonly string[], signal: AbortSignal): Promise<void> {
  return removeChildren(storage, { table: 'backup_parts', column: 'backup_id', large: true }, ids, signal);
}

/** Call {@link removeFiles} first. */
export async function deleteBackups(db: DbOrTx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.updateTable('jobs').set({ backup_id: null }).where('id', 'in', jobsOf(db, ids)).execute();
  await db.deleteFrom('backups').where('id', 'in', ids).execute();
}

function jobsOf(db: DbOrTx, backupIds: readonly string[]) {
  return db
    .selectFrom('backups')
    .select('backups.job_id')
    .where('backups.id', 'in', backupIds)
    .where('backups.job_id', 'is not', null)
    .$narrowType<{ job_id: string }>();
}
