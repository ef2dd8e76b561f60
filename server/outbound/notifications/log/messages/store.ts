import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { Found, ListPage } from '../../../../platform/core/list-page.ts';
import type { Page } from '../../../../platform/core/page.ts';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { Db, DbOrTx } from '../../../../platform/storage/db.ts';
import { findPage, isAmong, ofTeam } from '../../../../platform/storage/list-query.ts';
import { newestFirst } from '../../../../platform/storage/paging.ts';
import { HELD_BACK } from '../../messages/types.ts';
import type { AttemptRow, MessageRow } from '../../messages/types.ts';
import { LOCALES } from '../../texts/types.ts';
import type { MessageFilter } from '../types.ts';

export async function findMessages(
  db: Db,
  teamId: string,
  filter: MessageFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<MessageRow>> {
  const { recipientId, groupId, states, reasons, channels } = filter;
  let messages = db.selectFrom('messages').selectAll().$call(ofTeam(teamId, filter));
  if (recipientId !== undefined) messages = messages.where('recipient_id', '=', recipientId);
  if (groupId !== undefined) messages = messages.where('group_id', '=', groupId);
  // One query for each wanted reason or, if no reason is named, for each state; the rest is looked at row by row.
  const column = reasons.only.length > 0 ? 'reason' : 'state';
  const wanted = column === 'reason' ? reasons.only : states.only;
  for (const condition of [
    isAmong('reason', { ...reasons, only: [] }),
    isAmong('state', column === 'state' ? { ...states, only: [] } : states),
    isAmong('channel', channels),
  ])
    if (condition) messages = messages.where(condition);
  const queries =
    wanted.length === 0 ? [messages] : [...new Set(wanted)].map((value) => messages.where(sql<SqlBool>`${sql.ref(column)} = ${value}`));
  return findPage(db, queries, { page, value: sql.ref('created_at'), valueOf: (message) => message.created_at, wantsTotal });
}

/** Of one thread, newest first. `|| ''` keeps SQLite from reading all messages of the team in their order. */
export async function selectOfThread(db: DbOrTx, teamId: string, threadId: string, page: Page): Promise<MessageRow[]> {
  return db
    .selectFrom('messages')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where(sql<SqlBool>`(team_id || '') = ${teamId}`)
    .$call(newestFirst(page))
    .execute();
}

export interface SaidRow extends Pick<MessageRow, 'thread_id' | 'revision' | 'kind' | 'subject_time_zone'> {
  subject: string;
}

const OTHER_LOCALES = LOCALES.filter((locale) => locale !== 'en');

/**
 * What was said in English of revisions of threads, once for each wording. `|| ''` as above. What a person is told of too many messages
 * is not of the thread.
 */
export async function selectSaid(db: DbOrTx, teamId: string, messages: readonly MessageRow[]): Promise<SaidRow[]> {
  const said: SaidRow[] = [];
  const revisions = [...new Set(messages.map(({ revision }) => revision))];
  for (const chunk of inChunks([...new Set(messages.map(({ thread_id: id }) => id))]))
    said.push(
      ...(await db
        .selectFrom('messages')
        .leftJoin('users', 'users.id', 'messages.recipient_id')
        .select(['thread_id', 'revision', 'kind', 'subject_time_zone'])
        .select(sql<string>`subject`.as('subject'))
        .where('thread_id', 'in', chunk)
        .where('revision', 'in', revisions)
        .where(sql<SqlBool>`(messages.team_id || '') = ${teamId}`)
        .where('state', '=', 'sent')
        .where('kind', '<>', HELD_BACK)
        .where('subject', 'is not', null)
        .where((eb) =>
          eb.or([
            eb('recipient_type', '=', 'target'),
            eb('users.id', 'is not', null).and(eb.or([eb('users.locale', 'is', null), eb('users.locale', 'not in', OTHER_LOCALES)])),
          ]),
        )
        .groupBy(['thread_id', 'revision', 'kind', 'subject', 'subject_time_zone'])
        .execute()),
    );
  return said;
}

/** Attempts by message, oldest first. */
export async function selectAttempts(db: DbOrTx, teamId: string, messageIds: readonly string[]): Promise<Map<string, AttemptRow[]>> {
  const attempts: AttemptRow[] = [];
  for (const chunk of inChunks(messageIds))
    attempts.push(
      ...(await db
        .selectFrom('message_attempts')
        .selectAll()
        .where('team_id', '=', teamId)
        .where('message_id', 'in', chunk)
        .orderBy('at')
        .orderBy('id')
        .execute()),
    );
  return Map.groupBy(attempts, ({ message_id: id }) => id);
}

/** Names of targets by id. */
export async function selectTargetNames(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const chunk of inChunks([...new Set(ids)]))
    for (const { id, name } of await db
      .selectFrom('notification_targets')
      .select(['id', 'name'])
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute())
      names.set(id, name);
  return names;
}
