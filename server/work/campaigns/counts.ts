import type { Progress, Tally } from './steps.ts';
import type { CampaignRecord, StatusCounts, TargetState } from './types.ts';

/** Number of targets in each state, canaries counted separately, from the database. */
export interface StatusCount {
  status: TargetState;
  canary: 0 | 1;
  count: number;
}

const TALLY_OF: Record<TargetState, keyof Tally> = {
  waiting: 'waiting',
  claimed: 'underWay',
  started: 'underWay',
  completed: 'completed',
  failed: 'failed',
  expired: 'failed',
  unknown: 'failed',
  deleted: 'canceled',
};

export function progressOf(counts: readonly StatusCount[]): Progress {
  const empty = (): Tally => ({ waiting: 0, underWay: 0, completed: 0, failed: 0, canceled: 0 });
  const progress = { canaries: empty(), others: empty() };
  for (const { status, canary, count } of counts) progress[canary === 1 ? 'canaries' : 'others'][TALLY_OF[status]] += count;
  return progress;
}

/** As stored with a finished campaign. */
export function toStoredCounts(counts: readonly StatusCount[]): string {
  return JSON.stringify(counts.map(({ status, canary, count }) => [status, canary, count]));
}

/** The inverse of {@link toStoredCounts}. */
export function fromStoredCounts(text: string): StatusCount[] {
  const rows = JSON.parse(text) as [TargetState, 0 | 1, number][];
  return rows.map(([status, canary, count]) => ({ status, canary, count }));
}

/** True when the campaign will create no further jobs. */
export function isOver({ state }: Pick<CampaignRecord, 'state'>): boolean {
  return state === 'stopped' || state === 'canceled' || state === 'finished';
}

/** The counts for callers. @param running how many of the started jobs run on their router */
export function statusCounts(campaign: Pick<CampaignRecord, 'state'>, counts: readonly StatusCount[], running: number): StatusCounts {
  const of = (status: TargetState): number => counts.reduce((sum, row) => sum + (row.status === status ? row.count : 0), 0);
  const waiting = of('waiting');
  return {
    waiting: isOver(campaign) ? 0 : waiting,
    // Counted in a separate query: a job may begin in between.
    pending: Math.max(0, of('claimed') + of('started') - running),
    running,
    completed: of('completed'),
    failed: of('failed'),
    expired: of('expired'),
    unknown: of('unknown'),
    deleted: of('deleted'),
    skipped: isOver(campaign) ? waiting : 0,
  };
}
