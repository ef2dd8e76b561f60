import { describe, expect, it } from 'vitest';
import { FROM, PHASES, ROWS_OF, STATUSES, allows, isFinished, statusOf } from '../../../server/work/jobs/state.ts';
import type { Phase, Status, Transition } from '../../../server/work/jobs/state.ts';

const MOMENT = 1_700_000_000_000;

interface Row {
  phase: Phase;
  completed_at: number | null;
  failed_at: number | null;
  deleted_at: number | null;
}

function row(phase: Phase, times: Partial<Row> = {}): Row {
  return { phase, completed_at: null, failed_at: null, deleted_at: null, ...times };
}

describe('the public status of a job', () => {
  it.each<[string, Row, Status]>([
    ['waits', row('queued'), 'pending'],
    ['is on its agent’s disk', row('accepted'), 'pending'],
    ['is on its agent’s disk and needs no acknowledgement', row('accepted', { completed_at: MOMENT }), 'completed'],
    ['runs', row('running'), 'running'],
    ['runs and needs no acknowledgement', row('running', { completed_at: MOMENT }), 'completed'],
    ['ended well', row('done', { completed_at: MOMENT }), 'completed'],
    ['failed', row('done', { failed_at: MOMENT }), 'failed'],
    ['failed without anyone waiting for it', row('done', { completed_at: MOMENT }), 'completed'],
    ['never reached its router', row('expired', { failed_at: MOMENT }), 'expired'],
    ['was canceled', row('canceled', { deleted_at: MOMENT }), 'deleted'],
    ['may have run', row('unknown', { failed_at: MOMENT }), 'unknown'],
    ['may have run without anyone waiting for it', row('unknown', { completed_at: MOMENT }), 'completed'],
    ['failed and was deleted', row('done', { failed_at: MOMENT, deleted_at: MOMENT }), 'deleted'],
  ])('of one that %s', (_what, job, status) => {
    expect(statusOf(job)).toBe(status);
  });

  it('matches the list filter for every combination of columns', () => {
    for (const phase of PHASES) {
      for (const bits of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const times = { completed_at: bits & 1 ? 1 : null, failed_at: bits & 2 ? 1 : null, deleted_at: bits & 4 ? 1 : null };
        const job = row(phase, times);
        const selected = STATUSES.filter((status) => ROWS_OF[status].some((filter) => isSelected(job, filter)));
        expect(selected, JSON.stringify(job)).toEqual([statusOf(job)]);
      }
    }
  });
});

function isSelected(job: Row, filter: (typeof ROWS_OF)[Status][number]): boolean {
  return (
    filter.phases.includes(job.phase) &&
    filter.deleted === (job.deleted_at !== null) &&
    (filter.completed === undefined || filter.completed === (job.completed_at !== null)) &&
    (filter.failed === undefined || filter.failed === (job.failed_at !== null))
  );
}

describe('the transitions of a job', () => {
  // docs/job-handover.md: who sets which phase.
  it.each<[Phase, Transition[]]>([
    ['queued', ['accept', 'begin', 'end', 'expire', 'cancel']],
    ['accepted', ['begin', 'end', 'refuse', 'give_up']],
    ['running', ['end', 'give_up']],
    ['done', []],
    ['expired', ['end']],
    ['canceled', ['end']],
    ['unknown', ['end']],
  ])('that is %s', (phase, transitions) => {
    const all = Object.keys(FROM) as Transition[];
    expect(all.filter((transition) => allows(transition, phase))).toEqual(transitions);
  });

  it('give permission to run only from queued', () => {
    expect(FROM.accept).toEqual(['queued']);
  });

  it('leave a finished phase only for a late result', () => {
    for (const phase of PHASES.filter(isFinished)) {
      expect((Object.keys(FROM) as Transition[]).filter((transition) => transition !== 'end' && allows(transition, phase))).toEqual([]);
    }
  });
});
