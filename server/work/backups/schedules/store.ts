import { sql } from 'kysely';
import { z } from 'zod';
import type { Page } from '../../../platform/core/page.ts';
import { fromJson, inChunks, toJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { ScheduleRecord } from './types.ts';

export { isForeignKey, isUnique } from '../../../platform/storage/storage-errors.ts';
export { lockTeam } from '../../../platform/storage/team-lock.ts';

/** Backup schedules. Every query for a caller names the caller's team. */

interface ScheduleKey {
  teamId: string;
  id: string;
}

/** @throws a unique violation when the team or the site has one, a foreign key violation without the site */
export async function insertSchedule(db: DbOrTx, schedule: ScheduleRecord): Promise<void> {
  await db.insertInto('backup_schedules').values(schedule).execute();
}

export async function selectSchedule(db: DbOrTx, { teamId, id }: ScheduleKey): Promise<ScheduleRecord | undefined> {
  return db.selectFrom('backup_schedules').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** Newest first. */
export async function selectSchedules(db: DbOrTx, teamId: string, page: Page): Promise<ScheduleRecord[]> {
  return db.selectFrom('backup_schedules').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
}

export async function updateSchedule(db: DbOrTx, { id, team_id: teamId, ...schedule }: ScheduleRecord): Promise<void> {
  const { minutes, time_zone, spread_minutes, keep, enabled, counts_from, runs, updated_at } = schedule;
  await db
    .updateTable('backup_schedules')
    .set({ minutes, time_zone, spread_minutes, keep, enabled, counts_from, runs, updated_at })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .execute();
}

/** @returns whether there was one */
export async function deleteSchedule(db: DbOrTx, { teamId, id }: ScheduleKey): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('backup_schedules')
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0;
}

/** Of all teams: read by the runner. */
export async function selectEnabled(db: DbOrTx): Promise<ScheduleRecord[]> {
  return db.selectFrom('backup_schedules').selectAll().where('enabled', '=', 1).orderBy('id').execute();
}

/** Time zones of the sites that a schedule is for, and its own, which routers without a site's zone go by. */
export async function selectZones(db: DbOrTx, schedule: ScheduleRecord): Promise<string[]> {
  let sites = db.selectFrom('sites').select('time_zone').distinct().where('team_id', '=', schedule.team_id);
  if (schedule.site_id !== null) sites = sites.where('id', '=', schedule.site_id);
  const zones = (await sites.execute()).map((site) => site.time_zone ?? schedule.time_zone);
  return [...new Set(schedule.site_id === null ? [...zones, schedule.time_zone] : zones)];
}

/** Routers of a schedule in one zone, by id. A site with a schedule of its own is not the team's schedule's. */
export async function selectRoutersOf(db: DbOrTx, schedule: ScheduleRecord, timeZone: string): Promise<string[]> {
  let routers = db
    .selectFrom('routers')
    .leftJoin('sites', 'sites.id', 'routers.site_id')
    .select('routers.id')
    .where('routers.team_id', '=', schedule.team_id)
    .where('routers.removed_at', 'is', null)
    .where('routers.agent_router', '<>', '')
    .where((eb) => eb(eb.fn.coalesce('sites.time_zone', eb.val(schedule.time_zone)), '=', timeZone));
  if (schedule.site_id !== null) routers = routers.where('routers.site_id', '=', schedule.site_id);
  else {
    routers = routers.where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('backup_schedules as own')
            .select('own.id')
            .whereRef('own.site_id', '=', 'routers.site_id')
            .where('own.team_id', '=', schedule.team_id),
        ),
      ),
    );
  }
  return (await routers.orderBy('routers.id').execute()).map(({ id }) => id);
}

export interface ScheduledBackup {
  id: string;
  routerId: string;
  dueAt: number;
}

/** Without effect for a router that has this backup already, and for one whose last scheduled backup still waits. */
export async function insertScheduled(tx: Tx, schedule: ScheduleRecord, backups: readonly ScheduledBackup[], now: number): Promise<void> {
  const rows = backups.map(({ id, routerId, dueAt }) => ({
    id,
    team_id: schedule.team_id,
    router_id: routerId,
    job_id: null,
    origin: 'schedule',
    schedule_id: schedule.id,
    wanted: toJson(['export']),
    state: 'pending',
    attempts: 0,
    due_at: dueAt,
    error: null,
    created_at: now,
    stored_at: null,
  }));
  for (const chunk of inChunks(rows)) {
    await tx
      .insertInto('backups')
      .values(chunk)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

const runsColumn = z.record(z.string(), z.number());

/** When the schedule last ran in each zone. */
export function runsOf({ runs }: ScheduleRecord): Record<string, number> {
  return runsColumn.parse(fromJson(runs));
}

/** Stored backups (at most `limit`, of all teams) beyond what their schedules keep of each router. */
export async function selectBeyondKept(db: DbOrTx, limit: number): Promise<string[]> {
  const ranked = db
    .selectFrom('backups')
    .innerJoin('backup_schedules', 'backup_schedules.id', 'backups.schedule_id')
    .select(['backups.id', 'backup_schedules.keep'])
    .select(
      sql<number>`row_number() over (partition by backups.schedule_id, backups.router_id order by backups.created_at desc, backups.id desc)`.as(
        'place',
      ),
    )
    .where('backups.state', '=', 'stored');
  const rows = await db.selectFrom(ranked.as('ranked')).select('id').whereRef('place', '>', 'keep').limit(limit).execute();
  return rows.map(({ id }) => id);
}

export function withRun(schedule: ScheduleRecord, timeZone: string, at: number): string {
  return toJson({ ...runsOf(schedule), [timeZone]: at });
}
