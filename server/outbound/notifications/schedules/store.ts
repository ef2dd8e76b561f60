import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { fromJson, toJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { SchedulesTable } from '../../../platform/storage/schema-notifications.ts';
import type { Schedule, ScheduleChange, Window } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

export { isUnique } from '../../../platform/storage/storage-errors.ts';

function toSchedule(row: Selectable<SchedulesTable>): Schedule {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    timeZone: row.time_zone,
    windows: fromJson(row.windows) as Window[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** @throws a unique violation when another schedule of the team has this name */
export async function insertSchedule(db: DbOrTx, schedule: Schedule): Promise<void> {
  await db
    .insertInto('schedules')
    .values({
      id: schedule.id,
      team_id: schedule.teamId,
      name: schedule.name,
      time_zone: schedule.timeZone,
      windows: toJson(schedule.windows),
      created_at: schedule.createdAt,
      updated_at: schedule.updatedAt,
    })
    .execute();
}

export async function selectSchedule(db: DbOrTx, teamId: string, scheduleId: string): Promise<Schedule | undefined> {
  const row = await db.selectFrom('schedules').selectAll().where('team_id', '=', teamId).where('id', '=', scheduleId).executeTakeFirst();
  return row && toSchedule(row);
}

/** Newest first. */
export async function selectSchedules(db: DbOrTx, teamId: string, page: Page): Promise<Schedule[]> {
  const rows = await db.selectFrom('schedules').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toSchedule);
}

export async function countSchedules(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('schedules')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Undefined when the team has no such schedule. @throws a unique violation like {@link insertSchedule} */
export async function updateSchedule(
  db: DbOrTx,
  { teamId, id }: { teamId: string; id: string },
  change: ScheduleChange & { updatedAt: number },
): Promise<Schedule | undefined> {
  const row = await db
    .updateTable('schedules')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.timeZone === undefined ? {} : { time_zone: change.timeZone }),
      ...(change.windows === undefined ? {} : { windows: toJson(change.windows) }),
      updated_at: change.updatedAt,
    })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toSchedule(row);
}

/** False when the team has no such schedule. */
export async function deleteSchedule(db: DbOrTx, teamId: string, scheduleId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('schedules')
    .where('team_id', '=', teamId)
    .where('id', '=', scheduleId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
