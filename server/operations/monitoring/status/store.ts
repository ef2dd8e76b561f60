import type { DbOrTx } from '../../../platform/storage/db.ts';

export interface TeamWork {
  teamId: string;
  name: string;
  openForwards: number;
  jobs: Readonly<Record<OpenPhase, number>>;
}

/** Phases of jobs that have not ended. */
export const OPEN_PHASES = ['queued', 'accepted', 'running'] as const;
type OpenPhase = (typeof OPEN_PHASES)[number];

/** What every team has under way. */
export async function countWork(db: DbOrTx): Promise<TeamWork[]> {
  const teams = await db.selectFrom('teams').select(['id', 'name']).execute();
  const jobs = await db
    .selectFrom('jobs')
    .select((eb) => ['team_id', 'phase', eb.fn.countAll<number | string | bigint>().as('count')])
    .where('phase', 'in', OPEN_PHASES)
    .groupBy(['team_id', 'phase'])
    .execute();
  const forwards = await db
    .selectFrom('forwards')
    .select((eb) => ['team_id', eb.fn.countAll<number | string | bigint>().as('count')])
    .where('closed_at', 'is', null)
    .groupBy('team_id')
    .execute();
  const openForwards = new Map(forwards.map((row) => [row.team_id, Number(row.count)]));
  const openJobs = new Map(jobs.map((row) => [`${row.team_id} ${row.phase}`, Number(row.count)]));
  const inPhase = (teamId: string, phase: OpenPhase): number => openJobs.get(`${teamId} ${phase}`) ?? 0;
  return teams.map(({ id, name }) => ({
    teamId: id,
    name,
    openForwards: openForwards.get(id) ?? 0,
    jobs: { queued: inPhase(id, 'queued'), accepted: inPhase(id, 'accepted'), running: inPhase(id, 'running') },
  }));
}
