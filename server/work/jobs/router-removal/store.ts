import { sql } from 'kysely';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { insertJobEvents } from '../outbox/store.ts';
import { FROM, HELD } from '../state.ts';
import type { Note } from '../timeline/notes.ts';
import { noted } from '../timeline/store.ts';
import type { JobRecord } from '../types.ts';

/** Ends a router's jobs when the router is removed or replaced. Call these inside a write. */

const BY_ITSELF = { epoch: null, by: { type: 'control_plane' } } as const satisfies Partial<Note>;

interface OfRouter {
  teamId: string;
  routerId: string;
  now: number;
}

/** Ids of the router's jobs that an agent holds, oldest first, at most `limit`. */
export async function selectHeldOf(db: DbOrTx, { teamId, routerId }: OfRouter, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('phase', 'in', HELD)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Cancels every job that no agent has accepted. */
export async function cancelQueuedOf(
  db: DbOrTx,
  { teamId, routerId, now }: OfRouter,
  why: { reason: string; error: string },
): Promise<JobRecord[]> {
  const transitions = noted({ kind: 'canceled', at: now, phase: 'canceled', reason: why.reason, ...BY_ITSELF });
  const jobs = await db
    .updateTable('jobs')
    .set((eb) => ({ phase: 'canceled', deleted_at: now, ...why, transitions, version: eb('version', '+', 1) }))
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('phase', 'in', FROM.cancel)
    .returningAll()
    .execute();
  return insertJobEvents(db, jobs, now);
}

/** Sets the jobs that a revoked agent holds to unknown: they may have run, and no result will come. */
export async function giveUpHeldOf(db: DbOrTx, { teamId, routerId, now }: OfRouter): Promise<JobRecord[]> {
  const jobs = await db
    .updateTable('jobs')
    .set({
      phase: 'unknown',
      reason: 'agent_revoked',
      overdue_at: null,
      failed_at: sql<number | null>`case when completed_at is null then cast(${now} as bigint) end`,
      transitions: noted({ kind: 'gave_up', at: now, phase: 'unknown', reason: 'agent_revoked', ...BY_ITSELF }),
      version: sql<number>`version + 1`,
    })
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('phase', 'in', FROM.give_up)
    .returningAll()
    .execute();
  return insertJobEvents(db, jobs, now);
}
