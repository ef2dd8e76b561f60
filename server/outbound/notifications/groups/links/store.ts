import { ofTeamByIds } from '../../../../platform/storage/by-ids.ts';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../../platform/storage/db.ts';
import type { Channel, GivenLinks, GroupLinks, Notifiable } from '../types.ts';

/** References of groups: one table per kind, so that foreign keys remove deleted records. */

interface GroupKey {
  teamId: string;
  id: string;
}

/** The lists of some groups of one team. Inactive members are left out; their links return when they are reactivated. */
export async function selectLinks(db: DbOrTx, teamId: string, groupIds: string[]): Promise<Map<string, GroupLinks>> {
  const links = new Map<string, GroupLinks>(
    groupIds.map((id) => [id, { recipients: [], notifiables: [], topics: [], sites: [], targets: [] }]),
  );
  if (groupIds.length === 0) return links;
  for (const row of await recipientsOf(db, teamId, groupIds)) links.get(row.group_id)?.recipients.push(row.user_id);
  for (const row of await notifiablesOf(db, teamId, groupIds)) {
    links.get(row.group_id)?.notifiables.push({ id: row.user_id, channel: row.channel as Channel });
  }
  for (const row of await topicsOf(db, teamId, groupIds)) links.get(row.group_id)?.topics.push(row.topic_id);
  for (const row of await sitesOf(db, teamId, groupIds)) links.get(row.group_id)?.sites.push(row.site_id);
  for (const row of await targetsOf(db, teamId, groupIds)) links.get(row.group_id)?.targets.push(row.target_id);
  return links;
}

function recipientsOf(db: DbOrTx, teamId: string, groupIds: string[]) {
  return db
    .selectFrom('group_recipients as link')
    .innerJoin('members', (join) => join.onRef('members.team_id', '=', 'link.team_id').onRef('members.user_id', '=', 'link.user_id'))
    .select(['link.group_id', 'link.user_id'])
    .where('link.team_id', '=', teamId)
    .where('link.group_id', 'in', groupIds)
    .where('members.active', '=', 1)
    .orderBy('link.group_id')
    .orderBy('link.position')
    .execute();
}

function notifiablesOf(db: DbOrTx, teamId: string, groupIds: string[]) {
  return db
    .selectFrom('group_notifiables as link')
    .innerJoin('members', (join) => join.onRef('members.team_id', '=', 'link.team_id').onRef('members.user_id', '=', 'link.user_id'))
    .select(['link.group_id', 'link.user_id', 'link.channel'])
    .where('link.team_id', '=', teamId)
    .where('link.group_id', 'in', groupIds)
    .where('members.active', '=', 1)
    .orderBy('link.group_id')
    .orderBy('link.position')
    .execute();
}

function topicsOf(db: DbOrTx, teamId: string, groupIds: string[]) {
  return db
    .selectFrom('group_topics')
    .select(['group_id', 'topic_id'])
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .orderBy('group_id')
    .orderBy('position')
    .execute();
}

function sitesOf(db: DbOrTx, teamId: string, groupIds: string[]) {
  return db
    .selectFrom('group_sites')
    .select(['group_id', 'site_id'])
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .orderBy('group_id')
    .orderBy('position')
    .execute();
}

function targetsOf(db: DbOrTx, teamId: string, groupIds: string[]) {
  return db
    .selectFrom('group_targets')
    .select(['group_id', 'target_id'])
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .orderBy('group_id')
    .orderBy('position')
    .execute();
}

/** Replaces the lists that are given. @throws a foreign key violation when a referenced record has just been deleted */
export async function replaceLinks(tx: Tx, group: GroupKey, links: GivenLinks): Promise<void> {
  if (links.recipients) await replaceRecipients(tx, group, links.recipients);
  if (links.notifiables) await replaceNotifiables(tx, group, links.notifiables);
  if (links.topics) await replaceTopics(tx, group, links.topics);
  if (links.sites) await replaceSites(tx, group, links.sites);
  if (links.targets) await replaceTargets(tx, group, links.targets);
}

async function replaceRecipients(tx: Tx, { teamId, id }: GroupKey, userIds: string[]): Promise<void> {
  await tx.deleteFrom('group_recipients').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  const rows = userIds.map((userId, position) => ({ team_id: teamId, group_id: id, user_id: userId, position }));
  for (const chunk of inChunks(rows)) await tx.insertInto('group_recipients').values(chunk).execute();
}

async function replaceNotifiables(tx: Tx, { teamId, id }: GroupKey, notifiables: Notifiable[]): Promise<void> {
  await tx.deleteFrom('group_notifiables').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  const rows = notifiables.map((notifiable, position) => ({
    team_id: teamId,
    group_id: id,
    user_id: notifiable.id,
    channel: notifiable.channel,
    position,
  }));
  for (const chunk of inChunks(rows)) await tx.insertInto('group_notifiables').values(chunk).execute();
}

async function replaceTopics(tx: Tx, { teamId, id }: GroupKey, topicIds: string[]): Promise<void> {
  await tx.deleteFrom('group_topics').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  const rows = topicIds.map((topicId, position) => ({ team_id: teamId, group_id: id, topic_id: topicId, position }));
  for (const chunk of inChunks(rows)) await tx.insertInto('group_topics').values(chunk).execute();
}

async function replaceSites(tx: Tx, { teamId, id }: GroupKey, siteIds: string[]): Promise<void> {
  await tx.deleteFrom('group_sites').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  const rows = siteIds.map((siteId, position) => ({ team_id: teamId, group_id: id, site_id: siteId, position }));
  for (const chunk of inChunks(rows)) await tx.insertInto('group_sites').values(chunk).execute();
}

async function replaceTargets(tx: Tx, { teamId, id }: GroupKey, targetIds: string[]): Promise<void> {
  await tx.deleteFrom('group_targets').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  const rows = targetIds.map((targetId, position) => ({ team_id: teamId, group_id: id, target_id: targetId, position }));
  for (const chunk of inChunks(rows)) await tx.insertInto('group_targets').values(chunk).execute();
}

/** The ids that belong to active members of the team. */
export async function selectActiveMembers(db: DbOrTx, teamId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('members')
    .select('user_id')
    .where('team_id', '=', teamId)
    .where('active', '=', 1)
    .where('user_id', 'in', ids)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** The ids that belong to records of the team in the given table. */
export async function selectOwned(
  db: DbOrTx,
  table: 'topics' | 'sites' | 'schedules' | 'notification_targets',
  teamId: string,
  ids: string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom(table).select('id').$call(ofTeamByIds(teamId, ids)).execute();
  return new Set(rows.map((row) => row.id));
}

/** The ids that belong to groups of the team that are not deleted. */
export async function selectOwnGroups(db: DbOrTx, teamId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const groups = db.selectFrom('notification_groups').select('id').where('deleted_at', 'is', null);
  const rows = await groups.$call(ofTeamByIds(teamId, ids)).execute();
  return new Set(rows.map((row) => row.id));
}
