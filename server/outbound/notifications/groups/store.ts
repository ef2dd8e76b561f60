import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { fromJson, inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { NotificationGroupsTable } from '../../../platform/storage/schema-notifications.ts';
import type { Window } from '../schedules/types.ts';
import { DIGEST_KIND } from '../threads/gather.ts';
import { selectEscalations } from './escalation/store.ts';
import { selectLinks } from './links/store.ts';
import { MUTES } from './types.ts';
import type { Escalation, Group, GroupLinks, Mute } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

export { isForeignKey } from '../../../platform/storage/storage-errors.ts';

/** A group without its lists. */
export interface GroupRow {
  id: string;
  teamId: string;
  name: string;
  scheduleId: string | null;
  mute: Mute;
  createdAt: number;
  updatedAt: number;
}

export async function insertGroup(db: DbOrTx, group: GroupRow): Promise<void> {
  await db
    .insertInto('notification_groups')
    .values({
      id: group.id,
      team_id: group.teamId,
      name: group.name,
      schedule_id: group.scheduleId,
      mute: group.mute,
      created_at: group.createdAt,
      updated_at: group.updatedAt,
    })
    .execute();
}

/** False when the team has no such group. */
export async function updateGroup(
  db: DbOrTx,
  { teamId, id }: { teamId: string; id: string },
  change: { name?: string | undefined; scheduleId?: string | null | undefined; mute?: Mute | undefined; updatedAt: number },
): Promise<boolean> {
  const row = await db
    .updateTable('notification_groups')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.scheduleId === undefined ? {} : { schedule_id: change.scheduleId }),
      ...(change.mute === undefined ? {} : { mute: change.mute }),
      updated_at: change.updatedAt,
    })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Digests of this group that are not sent yet, or are just being sent, belong to another group that told something in them from now on. A digest
 * lists what several groups told, and goes with the one that it belongs to. One in which no other group told anything stays, and goes.
 */
export async function handDigestsOn(tx: Tx, teamId: string, groupId: string): Promise<void> {
  const digests = await selectUnsentDigests(tx, teamId, groupId);
  for (const [heir, ids] of Map.groupBy(await selectHeirs(tx, teamId, digests, groupId), (one) => one.groupId))
    for (const chunk of inChunks(ids.map(({ digestId }) => digestId))) {
      const to = { group_id: heir };
      await tx.updateTable('threads').set(to).where('team_id', '=', teamId).where('id', 'in', chunk).execute();
      await tx.updateTable('messages').set(to).where('team_id', '=', teamId).where('thread_id', 'in', chunk).execute();
    }
}

async function selectUnsentDigests(db: DbOrTx, teamId: string, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select('threads.id')
    .distinct()
    .where('messages.team_id', '=', teamId)
    .where('messages.due_at', 'is not', null)
    .where('threads.team_id', '=', teamId)
    .where('threads.group_id', '=', groupId)
    .where('threads.kind', '=', DIGEST_KIND)
    .execute();
  return rows.map(({ id }) => id);
}

/** For each digest another group of which it lists something; none for those that list nothing else. */
async function selectHeirs(
  db: DbOrTx,
  teamId: string,
  digests: readonly string[],
  groupId: string,
): Promise<{ digestId: string; groupId: string }[]> {
  const heirs: { digestId: string; groupId: string }[] = [];
  for (const chunk of inChunks(digests)) {
    const rows = await db
      .selectFrom('messages')
      .innerJoin('threads', 'threads.id', 'messages.thread_id')
      .select('messages.digest_id')
      .select((eb) => eb.fn.min('threads.group_id').as('group_id'))
      .where('messages.team_id', '=', teamId)
      .where('messages.digest_id', 'in', chunk)
      .where('threads.team_id', '=', teamId)
      .where('threads.group_id', '<>', groupId)
      .groupBy('messages.digest_id')
      .execute();
    heirs.push(...rows.map(({ digest_id: digestId, group_id: heir }) => ({ digestId: digestId!, groupId: heir })));
  }
  return heirs;
}

/** False when the team has no such group. */
export async function deleteGroup(db: DbOrTx, teamId: string, groupId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('notification_groups')
    .where('team_id', '=', teamId)
    .where('id', '=', groupId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function countGroups(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('notification_groups')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function hasGroup(db: DbOrTx, teamId: string, groupId: string): Promise<boolean> {
  const row = await db
    .selectFrom('notification_groups')
    .select('id')
    .where('team_id', '=', teamId)
    .where('id', '=', groupId)
    .executeTakeFirst();
  return row !== undefined;
}

function groupsWithSchedule(db: DbOrTx, teamId: string) {
  return db
    .selectFrom('notification_groups')
    .leftJoin('schedules', (join) =>
      join.onRef('schedules.id', '=', 'notification_groups.schedule_id').onRef('schedules.team_id', '=', 'notification_groups.team_id'),
    )
    .selectAll('notification_groups')
    .select(['schedules.time_zone', 'schedules.windows'])
    .where('notification_groups.team_id', '=', teamId);
}

type Row = Selectable<NotificationGroupsTable> & { time_zone: string | null; windows: string | null };

export async function selectGroup(db: DbOrTx, teamId: string, groupId: string): Promise<Group | undefined> {
  const row = await groupsWithSchedule(db, teamId).where('notification_groups.id', '=', groupId).executeTakeFirst();
  return row && (await withLinks(db, teamId, [row]))[0];
}

/** What says whether a group speaks; undefined when it is gone. */
export async function selectMute(
  db: DbOrTx,
  teamId: string,
  groupId: string,
): Promise<{ mute: Mute; schedule: Group['schedule'] } | undefined> {
  const row = await groupsWithSchedule(db, teamId).where('notification_groups.id', '=', groupId).executeTakeFirst();
  return row && muteOf(row);
}

/** The groups whose mute this schedule decides. */
export async function selectGroupsBySchedule(db: DbOrTx, teamId: string, scheduleId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('notification_groups')
    .select('id')
    .where('team_id', '=', teamId)
    .where('schedule_id', '=', scheduleId)
    .execute();
  return rows.map(({ id }) => id);
}

/** Messages that wait for the end of a mute of this group are looked at again: somebody may have ended it. */
export async function hastenMuted(tx: Tx, teamId: string, groupId: string, now: number): Promise<void> {
  await tx
    .updateTable('messages')
    .set({ due_at: now })
    .where('team_id', '=', teamId)
    .where('group_id', '=', groupId)
    .where('state', '=', 'held')
    .where('reason', '=', 'muted')
    .where('due_at', '>', now)
    .execute();
}

/** Newest first. */
export async function selectGroups(db: DbOrTx, teamId: string, page: Page): Promise<Group[]> {
  const rows = await groupsWithSchedule(db, teamId)
    .$call(newestFirst(page, 'notification_groups.created_at', 'notification_groups.id'))
    .execute();
  return withLinks(db, teamId, rows);
}

async function withLinks(db: DbOrTx, teamId: string, rows: Row[]): Promise<Group[]> {
  const links = await selectLinks(
    db,
    teamId,
    rows.map((row) => row.id),
  );
  const escalations = await selectEscalations(db, teamId);
  return rows.map((row) => toGroup(row, links.get(row.id)!, escalations.get(row.id) ?? null));
}

function muteOf({ mute: stored, time_zone: timeZone, windows }: Row): Pick<Group, 'mute' | 'schedule'> {
  return {
    schedule: timeZone === null ? null : { timeZone, windows: fromJson(windows ?? '[]') as Window[] },
    // An unknown value, written by a newer version, mutes nothing.
    mute: MUTES.find((mute) => mute === stored) ?? 'never',
  };
}

function toGroup(row: Row, links: GroupLinks, escalation: Escalation | null): Group {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    scheduleId: row.schedule_id,
    ...muteOf(row),
    escalation,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...links,
  };
}
