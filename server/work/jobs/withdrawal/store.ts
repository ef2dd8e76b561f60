import { sql } from 'kysely';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { allNoted } from '../outbox/store.ts';
import { FROM, HELD } from '../state.ts';
import type { JobRecord } from '../types.ts';

/** What becomes of a router's jobs when the router is removed or replaced. These run inside a write. */

interface OfRouter {
  teamId: string;
  routerId: string;
  now: number;
}

/** Ids of the jobs that an agent holds, the oldest first; at most `limit`. */
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

/** Takes back every job that no agent has been allowed to run. */
export async function cancelQueuedOf(
  db: DbOrTx,
  { teamId, routerId, now }: OfRouter,
  why: { reason: string; error: string },
): Promise<JobRecord[]> {
  const jobs = await db
    .updateTable('jobs')
    .set((eb) => ({ phase: 'canceled', deleted_at: now, ...why, version: eb('version', '+', 1) }))
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('phase', 'in', FROM.cancel)
    .returningAll()
    .execute();
  return allNoted(db, jobs, now);
}

/** Of jobs whose agent was revoked no word will ever come: they may have run. */
export async function giveUpHeldOf(db: DbOrTx, { teamId, routerId, now }: OfRouter): Promise<JobRecord[]> {
  const jobs = await db
    .updateTable('jobs')
    .set({
      phase: 'unknown',
      reason: 'agent_revoked',
      overdue_at: null,
      failed_at: sql<number | null>`case when completed_at is null then cast(${now} as bigint) end`,
      version: sql<number>`version + 1`,
    })
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('phase', 'in', FROM.give_up)
    .returningAll()
    .execute();
  return allNoted(db, jobs, now);
}
