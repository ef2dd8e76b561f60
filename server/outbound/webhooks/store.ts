import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { Schema } from '../../platform/storage/schema.ts';
import type { AttemptError, AttemptRecord, ClaimedEvent, DeliveryState, EventRecord } from './types.ts';

/**
 * The queue of events. Only the holder of an event's claim sends it, so that two processes on one database do not send it
 * at the same time; an abandoned claim expires. `due_at` is set exactly while the event still has to be sent.
 */

const WAITING: readonly DeliveryState[] = ['pending', 'resending'];

export interface DueEvent {
  id: string;
  origin: string;
  team_id: string;
}

export { selectDueTeams } from '../../platform/storage/due-teams.ts';

/** Events of a team that may be sent now (at most `limit`), the longest due first; none for busy receivers. */
export async function selectDueEvents(
  db: DbOrTx,
  query: { teamId: string; now: number; busyOrigins: readonly string[]; limit: number },
): Promise<DueEvent[]> {
  const { teamId, now, busyOrigins, limit } = query;
  let events = db
    .selectFrom('job_events')
    .select(['id', 'origin', 'team_id'])
    .where('team_id', '=', teamId)
    .where('due_at', '<=', now)
    .where((eb) => isFree(eb, now))
    .where((eb) => eb.or([eb('state', '=', 'resending'), eb.not(hasEarlierPending(eb))]));
  if (busyOrigins.length > 0) events = events.where('origin', 'not in', busyOrigins);
  return events.orderBy('due_at').orderBy('id').limit(limit).execute();
}

type Where = ExpressionBuilder<Schema, 'job_events'>;

function isFree(eb: Where, now: number): Expression<SqlBool> {
  return eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]);
}

/** The order of one job's events: the next one waits until this one is settled. */
function hasEarlierPending(eb: Where): Expression<SqlBool> {
  return eb.exists(
    eb
      .selectFrom('job_events as earlier')
      .select('earlier.id')
      .whereRef('earlier.job_id', '=', 'job_events.job_id')
      .whereRef('earlier.seq', '<', 'job_events.seq')
      .where('earlier.state', '=', 'pending'),
  );
}

/** When the next event falls due after `now`; null for none. */
export async function selectNextDue(db: DbOrTx, now: number): Promise<number | null> {
  const row = await db
    .selectFrom('job_events')
    .select((eb) => eb.fn.min<number | null>('due_at').as('at'))
    .where('due_at', '>', now)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Claims events (by id, of all teams) for sending. Events that another process has claimed are left out. */
export async function claimEvents(
  db: DbOrTx,
  take: { ids: readonly string[]; claim: string; now: number; until: number },
): Promise<ClaimedEvent[]> {
  const rows = await db
    .updateTable('job_events')
    .set({ claim: take.claim, claimed_until: take.until })
    .where('id', 'in', take.ids)
    .where('due_at', '<=', take.now)
    .where((eb) => isFree(eb, take.now))
    .returning(['id', 'team_id', 'job_id', 'seq', 'body', 'origin', 'state', 'attempts'])
    .returning((eb) => [
      eb.selectFrom('jobs').select('jobs.notify_url').whereRef('jobs.id', '=', 'job_events.job_id').as('url'),
      eb
        .selectFrom('job_events as earlier')
        .select('earlier.state')
        .whereRef('earlier.job_id', '=', 'job_events.job_id')
        .whereRef('earlier.seq', '<', 'job_events.seq')
        .orderBy('earlier.seq', 'desc')
        .limit(1)
        .as('previous'),
    ])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    teamId: row.team_id,
    jobId: row.job_id,
    seq: row.seq,
    body: row.body,
    url: row.url ?? '',
    origin: row.origin,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    previous: row.previous as DeliveryState | null,
    claim: take.claim,
  }));
}

export interface Settlement {
  state: DeliveryState;
  attempts: number;
  /** Time of the next attempt; null when it is settled. */
  dueAt: number | null;
  now: number;
}

/** Stores the result of a claimed event. @returns false when the claim has expired and another process has the event */
export async function settleEvent(db: DbOrTx, event: ClaimedEvent, settlement: Settlement): Promise<boolean> {
  const { state, attempts, dueAt, now } = settlement;
  const { numUpdatedRows } = await db
    .updateTable('job_events')
    .set({ state, attempts, due_at: dueAt, settled_at: dueAt === null ? now : null, claim: null, claimed_until: null })
    .where('id', '=', event.id)
    .where('team_id', '=', event.teamId)
    .where('claim', '=', event.claim)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets the due time of the events behind one to the earliest time at which they can be sent. */
export async function moveFollowers(db: DbOrTx, event: Pick<ClaimedEvent, 'teamId' | 'jobId' | 'seq'>, dueAt: number): Promise<void> {
  await db
    .updateTable('job_events')
    .set({ due_at: dueAt })
    .where('job_id', '=', event.jobId)
    .where('team_id', '=', event.teamId)
    .where('seq', '>', event.seq)
    .where('state', '=', 'pending')
    .execute();
}

/** Releases the claim of an event that was not sent. */
export async function releaseEvent(db: DbOrTx, event: ClaimedEvent): Promise<void> {
  await db
    .updateTable('job_events')
    .set({ claim: null, claimed_until: null })
    .where('id', '=', event.id)
    .where('team_id', '=', event.teamId)
    .where('claim', '=', event.claim)
    .execute();
}

export interface AttemptInsert {
  id: string;
  at: number;
  durationMs: number;
  status: number | null;
  error: AttemptError | null;
}

/** @param keep number of attempts kept per event, because resends could add more without end */
export async function insertAttempt(db: DbOrTx, event: ClaimedEvent, attempt: AttemptInsert, keep: number): Promise<void> {
  await db
    .insertInto('job_event_attempts')
    .values({
      id: attempt.id,
      team_id: event.teamId,
      event_id: event.id,
      at: attempt.at,
      duration_ms: attempt.durationMs,
      status: attempt.status,
      error: attempt.error,
    })
    .execute();
  await db
    .deleteFrom('job_event_attempts')
    .where('event_id', '=', event.id)
    .where('team_id', '=', event.teamId)
    .where((eb) =>
      eb(
        'id',
        'not in',
        eb
          .selectFrom('job_event_attempts as kept')
          .select('kept.id')
          .where('kept.event_id', '=', event.id)
          .orderBy('kept.at', 'desc')
          .orderBy('kept.id', 'desc')
          .limit(keep),
      ),
    )
    .execute();
}

/** The events of a job, newest first. The page counts by `seq`. */
export async function selectEvents(db: DbOrTx, query: { teamId: string; jobId: string; page: Page }): Promise<EventRecord[]> {
  const { before, limit } = query.page;
  let events = db.selectFrom('job_events').selectAll().where('job_id', '=', query.jobId).where('team_id', '=', query.teamId);
  if (before) events = events.where('seq', '<', before.at);
  return events.orderBy('seq', 'desc').limit(limit).execute();
}

export async function selectEvent(db: DbOrTx, teamId: string, jobId: string, id: string): Promise<EventRecord | undefined> {
  return db
    .selectFrom('job_events')
    .selectAll()
    .where('id', '=', id)
    .where('job_id', '=', jobId)
    .where('team_id', '=', teamId)
    .executeTakeFirst();
}

/** Oldest first. */
export async function selectAttempts(db: DbOrTx, teamId: string, eventIds: readonly string[]): Promise<AttemptRecord[]> {
  if (eventIds.length === 0) return [];
  return db
    .selectFrom('job_event_attempts')
    .selectAll()
    .where('event_id', 'in', eventIds)
    .where('team_id', '=', teamId)
    .orderBy('at')
    .orderBy('id')
    .execute();
}

/** Makes a settled event due again with a complete schedule. An event that is being sent is not changed. */
export async function resendEvent(db: DbOrTx, event: { id: string; teamId: string; now: number }): Promise<void> {
  await db
    .updateTable('job_events')
    .set({ state: 'resending', attempts: 0, due_at: event.now, settled_at: null })
    .where('id', '=', event.id)
    .where('team_id', '=', event.teamId)
    .where('state', 'not in', WAITING)
    .execute();
}

/** Makes a pending event due now, with those before it. */
export async function hastenEvents(db: DbOrTx, event: { teamId: string; jobId: string; seq: number; now: number }): Promise<void> {
  await db
    .updateTable('job_events')
    .set({ due_at: event.now })
    .where('job_id', '=', event.jobId)
    .where('team_id', '=', event.teamId)
    .where('seq', '<=', event.seq)
    .where('state', 'in', WAITING)
    .execute();
}

/** Deletes at most `limit` events of all teams that were settled long ago, with their attempts. @returns the number deleted */
export async function deleteSettledBefore(db: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('job_events')
    .where((eb) => eb('id', 'in', eb.selectFrom('job_events as old').select('old.id').where('old.settled_at', '<', before).limit(limit)))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
