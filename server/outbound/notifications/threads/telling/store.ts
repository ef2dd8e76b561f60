import type { ExpressionBuilder } from 'kysely';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { Schema } from '../../../../platform/storage/schema.ts';
import type { ThreadRow } from '../types.ts';
import { STAND_INS } from '../gather.ts';
import { inheritedFrom } from './care.ts';
import type { Children } from './state.ts';

export { selectEscalations } from '../../groups/escalation/store.ts';
export { selectSilenced } from '../../silences/store.ts';
export type { Fact } from '../../silences/store.ts';

/** Teams with threads that are due. */
export async function selectDueTeams(db: DbOrTx, now: number): Promise<string[]> {
  const rows = await db.selectFrom('threads').select('team_id').distinct().where('flush_at', '<=', now).execute();
  return rows.map(({ team_id: id }) => id);
}

/** When the next thread of any team is due after a time; null for none. */
export async function selectNextDue(db: DbOrTx, after: number): Promise<number | null> {
  const row = await db
    .selectFrom('threads')
    .select((eb) => eb.fn.min<number | null>('flush_at').as('at'))
    .where('flush_at', '>', after)
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Those that are due, of whole groups, the longest due first: what a group hears together is decided together.
 * @param limit of several groups; one alone may have more, up to `mostOfGroup`
 */
export async function selectDue(
  db: DbOrTx,
  teamId: string,
  now: number,
  { limit, mostOfGroup }: { limit: number; mostOfGroup: number },
): Promise<ThreadRow[]> {
  const groups = await db
    .selectFrom('threads')
    .select('group_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('flush_at', '<=', now)
    .groupBy('group_id')
    .orderBy((eb) => eb.fn.min('flush_at'))
    .orderBy('group_id')
    .execute();
  const taken: string[] = [];
  let count = 0;
  for (const group of groups) {
    count += group.count;
    if (taken.length > 0 && count > limit) break;
    taken.push(group.group_id);
  }
  if (taken.length === 0) return [];
  return db
    .selectFrom('threads')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('flush_at', '<=', now)
    .where('group_id', 'in', taken)
    .orderBy('flush_at')
    .orderBy('id')
    .limit(mostOfGroup)
    .execute();
}

/** Agents that are away, as the groups of a team see them, by the keys of their threads. */
export async function selectAgentThreads(
  db: DbOrTx,
  teamId: string,
  groupIds: readonly string[],
  keys: readonly string[],
): Promise<ThreadRow[]> {
  const threads: ThreadRow[] = [];
  for (const chunk of inChunks(keys))
    threads.push(
      ...(await db
        .selectFrom('threads')
        .selectAll()
        .where('team_id', '=', teamId)
        .where('group_id', 'in', groupIds)
        .where('key', 'in', chunk)
        .where('closed_at', 'is', null)
        .execute()),
    );
  return threads;
}

/** Threads of these groups that stand for others and can still change. */
export async function selectStandIns(db: DbOrTx, teamId: string, groupIds: readonly string[]): Promise<ThreadRow[]> {
  return db
    .selectFrom('threads')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .where('kind', 'in', STAND_INS)
    .where('closed_at', 'is', null)
    .execute();
}

/** What is in threads that stand for others. @param most of the latest changes in those that come and go */
export async function selectChildren(
  db: DbOrTx,
  teamId: string,
  parents: readonly Pick<ThreadRow, 'id' | 'flapping_since'>[],
  most: number,
): Promise<Map<string, Children>> {
  const children = new Map<string, Children>();
  for (const chunk of inChunks(parents.map(({ id }) => id))) {
    const rows = await db
      .selectFrom('threads')
      .select(['parent_id', 'state', 'severity'])
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('team_id', '=', teamId)
      .where('parent_id', 'in', chunk)
      .groupBy(['parent_id', 'state', 'severity'])
      .execute();
    for (const { parent_id: id, state, severity, count } of rows) {
      const known = children.get(id!) ?? { open: 0, all: 0, severity: 'info', moves: [] };
      const worse = severity === 'critical' || known.severity === 'info' ? severity : known.severity;
      children.set(id!, { ...known, open: known.open + (state === 'open' ? count : 0), all: known.all + count, severity: worse });
    }
  }
  for (const { id } of parents.filter(({ flapping_since: since }) => since !== null)) {
    const moves = await selectMoves(db, teamId, id, most);
    const known = children.get(id);
    if (known) children.set(id, { ...known, moves });
  }
  return children;
}

/** When threads in a parent last opened or ended, newest first. */
async function selectMoves(db: DbOrTx, teamId: string, parentId: string, most: number): Promise<number[]> {
  const rows = await db
    .selectFrom('threads')
    .select('updated_at')
    .where('team_id', '=', teamId)
    .where('parent_id', '=', parentId)
    .orderBy('updated_at', 'desc')
    .limit(most)
    .execute();
  return rows.map(({ updated_at: at }) => at);
}

export async function countAgents(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('agents')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Parents are gone: what is open in them is told on its own at `openAt` if it is still open then, what has ended is closed at `closeAt`. */
export async function releaseToOpen(
  db: DbOrTx,
  teamId: string,
  parentIds: readonly string[],
  { openAt, closeAt }: { openAt: number; closeAt: number },
): Promise<void> {
  const open = { parent_id: null, pending: 'open', pending_since: null, flapping_since: null, flush_at: openAt, told_open: 0 as const };
  for (const chunk of inChunks(parentIds)) {
    await releaseEnded(db, teamId, chunk, closeAt);
    await childrenOf(db, teamId, chunk).set(open).where('state', '=', 'open').execute();
  }
}

/**
 * Parents are over: what is still open in them counts as told, and what has ended is closed at `closeAt`.
 * @param parents as they were while they were open: what is open in them inherits their escalation and who has taken them over
 */
export async function releaseAsTold(
  db: DbOrTx,
  teamId: string,
  parents: readonly ThreadRow[],
  { now, closeAt }: { now: number; closeAt: number },
): Promise<void> {
  const told = { parent_id: null, pending: null, flapping_since: null, told_open: 1 as const, told_at: now };
  // Only a storm ends with something open in it.
  for (const parent of parents.filter(({ open_count: open }) => open > 0)) await inherit(db, teamId, parent);
  // It was told as quiet: what comes back begins to count anew.
  const calm = parents.filter(({ flapping_since: since }) => since !== null).map(({ id }) => id);
  for (const chunk of inChunks(calm)) await childrenOf(db, teamId, chunk).set({ openings: '[]' }).execute();
  for (const chunk of inChunks(parents.map(({ id }) => id))) {
    await childrenOf(db, teamId, chunk)
      .set((eb) => ({ told_in: eb.ref('parent_id') }))
      .execute();
    await releaseEnded(db, teamId, chunk, closeAt);
    // Somebody has to be reminded of them: that is decided next.
    const set = (eb: ExpressionBuilder<Schema, 'threads'>) => ({ ...told, told_count: eb.ref('open_count'), flush_at: now });
    await childrenOf(db, teamId, chunk).set(set).where('state', '=', 'open').execute();
  }
}

async function inherit(db: DbOrTx, teamId: string, parent: ThreadRow): Promise<void> {
  const { asked, care } = inheritedFrom(parent);
  const open = () => childrenOf(db, teamId, [parent.id]).where('state', '=', 'open');
  await open().set(asked).execute();
  await open().set(care).where('acknowledged_at', 'is', null).execute();
}

/** What has something to tell of its own keeps its time. */
async function releaseEnded(db: DbOrTx, teamId: string, parentIds: readonly string[], closeAt: number): Promise<void> {
  const ended = () => childrenOf(db, teamId, parentIds).where('state', '<>', 'open');
  await ended().set({ flush_at: closeAt, flapping_since: null }).where('pending', 'is', null).execute();
  await ended().set({ parent_id: null }).execute();
}

function childrenOf(db: DbOrTx, teamId: string, parentIds: readonly string[]) {
  return db.updateTable('threads').where('team_id', '=', teamId).where('parent_id', 'in', parentIds);
}

/** What parents said at their last end is over. */
export async function forgetMembers(db: DbOrTx, teamId: string, parentIds: readonly string[]): Promise<void> {
  for (const chunk of inChunks(parentIds))
    await db.updateTable('threads').set({ told_in: null }).where('team_id', '=', teamId).where('told_in', 'in', chunk).execute();
}

/** Nothing joins them any more. */
export async function closeThreads(db: DbOrTx, teamId: string, ids: readonly string[], now: number): Promise<void> {
  for (const chunk of inChunks(ids))
    await db
      .updateTable('threads')
      .set({ flush_at: null, closed_at: now })
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute();
}

/** Groups whose threads wait for the end of a mute. */
export async function selectMutedGroups(db: DbOrTx): Promise<{ teamId: string; groupId: string }[]> {
  const rows = await db.selectFrom('threads').select(['team_id', 'group_id']).distinct().where('muted', '=', 1).execute();
  return rows.map((row) => ({ teamId: row.team_id, groupId: row.group_id }));
}

/** The mute of a group is over: its threads are due. */
export async function makeMutedDue(db: DbOrTx, { teamId, groupId }: { teamId: string; groupId: string }, now: number): Promise<void> {
  await db
    .updateTable('threads')
    .set({ flush_at: now })
    .where('team_id', '=', teamId)
    .where('group_id', '=', groupId)
    .where('muted', '=', 1)
    .where((eb) => eb.or([eb('flush_at', 'is', null), eb('flush_at', '>', now)]))
    .execute();
}

/** A silence of the team was ended by hand: what it held back is looked at. */
export async function makeSilencedDue(db: DbOrTx, teamId: string, now: number): Promise<void> {
  await silencedAhead(db, now).where('team_id', '=', teamId).execute();
}

/** The same for silences of all teams that have ended by the wall clock, which may have been set. */
export async function makeLongSilencedDue(db: DbOrTx, now: number): Promise<void> {
  await silencedAhead(db, now).where('silenced_until', '<=', now).execute();
}

function silencedAhead(db: DbOrTx, now: number) {
  return db
    .updateTable('threads')
    .set({ flush_at: now })
    .where('silenced_until', 'is not', null)
    .where('parent_id', 'is', null)
    .where('flush_at', '>', now);
}

export async function hasLongSilenced(db: DbOrTx, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('threads')
    .select('id')
    .where('silenced_until', '<=', now)
    .where('flush_at', '>', now)
    .where('parent_id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
