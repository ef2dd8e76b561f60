import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { fromJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { NotificationGroupsTable } from '../../../platform/storage/schema-notifications.ts';
import type { Window } from '../schedules/types.ts';
import { DIGEST, GROUP_DELETED, HELD_BACK } from '../messages/types.ts';
import { deleteEscalations, selectEscalations } from './escalation/store.ts';
import { replaceLinks, selectLinks } from './links/store.ts';
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
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** False when the team has no such group. */
export async function deleteGroup(tx: Tx, { teamId, id }: { teamId: string; id: string }, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('notification_groups')
    .set({ deleted_at: now, updated_at: now, mute: 'always', schedule_id: null })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!row) return false;
  await replaceLinks(tx, { teamId, id }, { recipients: [], notifiables: [], topics: [], sites: [], targets: [] });
  await deleteEscalations(tx, teamId, id);
  await closeUntold(tx, teamId, id, now);
  await withholdWaiting(tx, teamId, id, now);
  await deleteIfUnused(tx, teamId, id);
  return true;
}

/** What nobody was told of needs no end. What another thread stands for goes on with that one. */
async function closeUntold(tx: Tx, teamId: string, groupId: string, now: number): Promise<void> {
  await tx
    .updateTable('threads')
    .set({ closed_at: now, flush_at: null, pending: null, pending_since: null })
    .where('team_id', '=', teamId)
    .where('group_id', '=', groupId)
    .where('closed_at', 'is', null)
    .where('told_open', '=', 0)
    .where('parent_id', 'is', null)
    .execute();
}

/** Messages of a deleted group that are sent all the same: ends, what several groups told, and what was told already. */
const SENT_WITHOUT_GROUP = ['resolve', 'acknowledged', DIGEST, HELD_BACK] as const;

/** Those that are just being sent see it themselves. */
async function withholdWaiting(tx: Tx, teamId: string, groupId: string, now: number): Promise<void> {
  await tx
    .updateTable('messages')
    .set({ state: 'withheld', reason: GROUP_DELETED, due_at: null, settled_at: now })
    .where('team_id', '=', teamId)
    .where('group_id', '=', groupId)
    .where('due_at', 'is not', null)
    .where('kind', 'not in', SENT_WITHOUT_GROUP)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .execute();
}

/** One that never told anything leaves nothing to read about. */
async function deleteIfUnused(tx: Tx, teamId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('notification_groups')
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom('threads').select('threads.id').where('threads.team_id', '=', teamId).where('threads.group_id', '=', id)),
      ),
    )
    .execute();
}

export async function countGroups(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('notification_groups')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function hasGroup(db: DbOrTx, teamId: string, groupId: string): Promise<boolean> {
  const row = await db
    .selectFrom('notification_groups')
    .select('id')
    .where('team_id', '=', teamId)
    .where('id', '=', groupId)
    .where('deleted_at', 'is', null)
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
    .where('notification_groups.team_id', '=', teamId)
    .where('notification_groups.deleted_at', 'is', null);
}

type Row = Selectable<NotificationGroupsTable> & { time_zone: string | null; windows: string | null };

export async function selectGroup(db: DbOrTx, teamId: string, groupId: string): Promise<Group | undefined> {
  const row = await groupsWithSchedule(db, teamId).where('notification_groups.id', '=', groupId).executeTakeFirst();
  return row && (await withLinks(db, teamId, [row]))[0];
}

/** What says whether a group speaks; undefined when it is deleted. */
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
