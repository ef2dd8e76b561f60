import { newId } from '../../../platform/core/ids.ts';
import { insertNotices } from '../../../platform/notices/store.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../types.ts';
import { eventBody, eventTypeOf } from './event.ts';
import { jobNotice } from './notices.ts';

/**
 * The transactional outbox of `notify_url`. A transition and its event are one transaction, so no event is lost between
 * the commit and the delivery, and every status is delivered even when the next one follows before the receiver can be
 * reached. The events of one job are in order because its row stays locked from the transition to the commit.
 */

/** Stores the event and the notice of a transition, in the transaction that made it. @returns the job, so that calls can be chained */
export async function insertJobEvent(db: DbOrTx, job: JobRecord | undefined, now: number): Promise<JobRecord | undefined> {
  if (job) await insertJobEvents(db, [job], now);
  return job;
}

/** Like {@link insertJobEvent}, for a transition of many jobs. */
export async function insertJobEvents(db: DbOrTx, jobs: JobRecord[], now: number): Promise<JobRecord[]> {
  for (const job of jobs) await insertEventOf(db, job, now);
  const notices = jobs.map((job) => jobNotice(job, now)).filter((notice) => notice !== undefined);
  await insertNotices(db, notices, now);
  return jobs;
}

/** Stores the event of the creation of those of these new jobs that tell a receiver; their rows say so already. */
export async function insertFirstEvents(db: DbOrTx, jobs: readonly JobRecord[]): Promise<void> {
  const events = jobs.flatMap((job) =>
    job.notify_url === null ? [] : [eventRow(job, job.notify_url, { now: job.created_at, waitUntil: job.created_at })],
  );
  for (const chunk of inChunks(events)) await db.insertInto('job_events').values(chunk).execute();
}

/** A transition that leaves the public status unchanged gets no event; only its version is recorded. */
async function insertEventOf(db: DbOrTx, job: JobRecord, now: number): Promise<void> {
  if (job.notify_url === null) return;
  const last = job.version === 1 ? undefined : await selectLastEvent(db, job);
  const waitUntil = last?.state === 'pending' ? (last.due_at ?? 0) : 0;
  if (last?.type !== eventTypeOf(job)) await insertEvent(db, job, job.notify_url, { now, waitUntil });
  await db
    .updateTable('jobs')
    .set({ notified_version: job.version })
    .where('id', '=', job.id)
    .where('team_id', '=', job.team_id)
    .where('notified_version', '<', job.version)
    .execute();
}

async function selectLastEvent(db: DbOrTx, job: JobRecord) {
  return db
    .selectFrom('job_events')
    .select(['type', 'state', 'due_at'])
    .where('job_id', '=', job.id)
    .where('team_id', '=', job.team_id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** An event is due no earlier than the pending event before it, because events of one job are delivered in order. */
async function insertEvent(db: DbOrTx, job: JobRecord, url: string, at: EventTimes): Promise<void> {
  await db
    .insertInto('job_events')
    .values(eventRow(job, url, at))
    .execute();
}

interface EventTimes {
  now: number;
  waitUntil: number;
}

function eventRow(job: JobRecord, url: string, { now, waitUntil }: EventTimes) {
  return {
    id: newId(now),
    team_id: job.team_id,
    job_id: job.id,
    seq: job.version,
    type: eventTypeOf(job),
    body: eventBody(job, now),
    origin: new URL(url).origin,
    state: 'pending',
    attempts: 0,
    due_at: Math.max(now, waitUntil),
    created_at: now,
  } as const;
}

/**
 * Stores an event with the present status of each job (at most `limit`, of all teams) whose last transition was made by a
 * statement that stores no events. @returns the number of such jobs
 */
export async function insertMissedEvents(db: DbOrTx, now: number, limit: number): Promise<number> {
  const jobs = await db
    .selectFrom('jobs')
    .selectAll()
    .where('notify_url', 'is not', null)
    .whereRef('notified_version', '<', 'version')
    .orderBy('id')
    .limit(limit)
    .execute();
  for (const job of jobs) await insertEventOf(db, job, now);
  return jobs.length;
}
