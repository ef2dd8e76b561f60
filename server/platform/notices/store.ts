import { idFloor, newId } from '../core/ids.ts';
import { inChunks, storableText, toJson } from '../storage/columns.ts';
import type { DbOrTx } from '../storage/db.ts';
import { storableCauses } from './causes.ts';
import { entriesFor } from './patterns.ts';
import type { NewNotice } from './types.ts';

/** Longest text of a notice: a message shows about a line of it. */
const MAX_TEXT = 300;

/**
 * Stores notices in the transaction of their facts, so that a fact and its notice are stored both or neither. Notices that no group of the
 * team listens to are left out: the check reads an index in the same transaction, so a team without groups pays one look-up and no row. An
 * end is stored when its opening was, whatever groups follow by now.
 * @param now when they are stored
 */
export async function insertNotices(tx: DbOrTx, notices: readonly NewNotice[], now: number): Promise<void> {
  const rows = [];
  const heard = new Map<string, boolean>();
  for (const notice of notices) {
    const listener = `${notice.teamId} ${notice.kind}`;
    const isHeard = notice.groupId !== undefined || (heard.get(listener) ?? (await isListening(tx, notice.teamId, notice.kind)));
    if (notice.groupId === undefined) heard.set(listener, isHeard);
    if (isHeard || (await endsWhatWasHeard(tx, notice))) rows.push(rowOf(notice, await versionOf(tx, notice, now), now));
  }
  for (const chunk of inChunks(rows)) await tx.insertInto('notices').values(chunk).execute();
}

async function endsWhatWasHeard(tx: DbOrTx, { teamId, recordId, phase }: NewNotice): Promise<boolean> {
  return phase === 'resolve' && (await selectLastNotice(tx, teamId, recordId))?.phase === 'open';
}

/** Two changes in one millisecond, or a clock that was set back, must not make the newer one look old. */
async function versionOf(tx: DbOrTx, { teamId, recordId, version }: NewNotice, now: number): Promise<number> {
  if (version !== 'next') return version;
  const last = await selectLastNotice(tx, teamId, recordId);
  return Math.max(now, (last?.version ?? 0) + 1);
}

/** What was told of a record last. */
export async function selectLastNotice(
  tx: DbOrTx,
  teamId: string,
  recordId: string,
): Promise<{ version: number; phase: string } | undefined> {
  return tx
    .selectFrom('notices')
    .select(['version', 'phase'])
    .where('team_id', '=', teamId)
    .where('record_id', '=', recordId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function rowOf(notice: NewNotice, version: number, now: number) {
  return {
    id: newId(now),
    team_id: notice.teamId,
    kind: notice.kind,
    phase: notice.phase,
    severity: notice.severity,
    key: notice.key,
    record_id: notice.recordId,
    version,
    router_id: notice.routerId ?? null,
    agent_id: notice.agentId ?? null,
    at: notice.at,
    data: toJson(dataOf(notice)),
    stored_at: now,
    routed_at: null,
  };
}

function dataOf({ data = {}, causes = [], groupId }: NewNotice): object {
  return {
    ...cut(data),
    ...(causes.length === 0 ? {} : { causes: storableCauses(causes) }),
    ...(groupId === undefined ? {} : { group_id: groupId }),
  };
}

function cut(data: NonNullable<NewNotice['data']>): NonNullable<NewNotice['data']> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? storableText(value.slice(0, MAX_TEXT)) : value]),
  );
}

/** Whether a group of the team follows this kind. */
async function isListening(tx: DbOrTx, teamId: string, kind: string): Promise<boolean> {
  const row = await tx
    .selectFrom('group_topics')
    .innerJoin('topics', 'topics.id', 'group_topics.topic_id')
    .select('group_topics.group_id')
    .where('group_topics.team_id', '=', teamId)
    .where('topics.team_id', '=', teamId)
    // `_` matches any character, which at worst stores a notice that no group takes.
    .where((eb) => eb.or(entriesFor(kind).map((entry) => eb('topics.events', 'like', `%"${entry}"%`))))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes back the notices of a record that nobody has seen. */
export async function withdrawNotices(tx: DbOrTx, { teamId, recordId }: { teamId: string; recordId: string }): Promise<void> {
  await tx.deleteFrom('notices').where('team_id', '=', teamId).where('record_id', '=', recordId).where('routed_at', 'is', null).execute();
}

/**
 * Deletes at most `limit` notices of all teams that were stored before a time and that were given to the groups. The others stay: after a
 * long outage they are still to be told. @returns the number deleted
 */
export async function deleteNoticesBefore(tx: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('notices')
    .where((eb) =>
      eb(
        'id',
        'in',
        eb
          .selectFrom('notices as old')
          .select('old.id')
          // Ids begin with the time at which a notice was stored.
          .where('old.id', '<', idFloor(before))
          .where('old.routed_at', 'is not', null)
          .limit(limit),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
