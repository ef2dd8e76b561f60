import { newId } from '../../../platform/core/ids.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../types.ts';
import { eventBody, eventTypeOf } from './event.ts';

/**
 * The outbox of `notify_url`. A transition and its event are one transaction, so that nothing is lost between the
 * commit and the delivery, and each status is told even if the next one came before anyone could be reached. The events
 * of one job are in order because its row stays locked from the transition to the commit.
 */

/** Writes down what callers are to be told of a transition that has just been made. @returns the job, for the chain */
export async function noted(db: DbOrTx, job: JobRecord | undefined, now: number): Promise<JobRecord | undefined> {
  if (job) await noteEvent(db, job, now);
  return job;
}

/** As {@link noted}, for a transition of many jobs. */
export async function allNoted(db: DbOrTx, jobs: JobRecord[], now: number): Promise<JobRecord[]> {
  for (const job of jobs) await noteEvent(db, job, now);
  return jobs;
}

/** Not every transition is news: one that leaves the public status as it was is only counted. */
async function noteEvent(db: DbOrTx, job: JobRecord, now: number): Promise<void> {
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

/** An event behind one that waits for its receiver is due no earlier: it would only be looked at in vain. */
async function insertEvent(db: DbOrTx, job: JobRecord, url: string, at: { now: number; waitUntil: number }): Promise<void> {
  await db
    .insertInto('job_events')
    .values({
      id: newId(at.now),
      team_id: job.team_id,
      job_id: job.id,
      seq: job.version,
      type: eventTypeOf(job),
      body: eventBody(job, at.now),
      origin: new URL(url).origin,
      state: 'pending',
      attempts: 0,
      due_at: Math.max(at.now, at.waitUntil),
      created_at: at.now,
    })
    .execute();
}

/**
 * Writes down the present status of jobs (at most `limit`, of all teams) whose last transition was made by a statement
 * that does not write events. @returns how many
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
  await allNoted(db, jobs, now);
  return jobs.length;
}
