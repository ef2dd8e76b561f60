import type { DbOrTx } from '../../../platform/storage/db.ts';

export interface WorkCounts {
  openForwards: number;
  queuedJobs: number;
  runningJobs: number;
}

/** Across all teams, for the operators of the service. */
export async function countWork(db: DbOrTx): Promise<WorkCounts> {
  const jobs = await db
    .selectFrom('jobs')
    .select((eb) => ['phase', eb.fn.countAll<number>().as('count')])
    .where('phase', 'in', ['queued', 'running'])
    .groupBy('phase')
    .execute();
  const forwards = await db
    .selectFrom('forwards')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  const inPhase = (phase: string): number => jobs.find((row) => row.phase === phase)?.count ?? 0;
  return { openForwards: forwards.count, queuedJobs: inPhase('queued'), runningJobs: inPhase('running') };
}
