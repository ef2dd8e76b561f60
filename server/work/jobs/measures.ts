import { LRUCache } from 'lru-cache';
import type { Measures } from '../../feature.ts';
import { TeamCounts } from '../../platform/core/team-counts.ts';
import type { JobChanges } from './changes.ts';
import { statusOf } from './state.ts';
import type { JobRecord } from './types.ts';

const RESULTS = ['completed', 'failed', 'expired', 'unknown', 'deleted'] as const;
type Result = (typeof RESULTS)[number];

/** Seconds: from one command to the longest time-out of a script. */
const DURATIONS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** A job changes a few times in a row. One that changes again after this many others is counted twice: 100 bytes each. */
const REMEMBERED = 10_000;

/** Results of jobs, once each. A job that was `unknown` and whose result arrives later counts under both. */
export function jobMeasures(changes: JobChanges): Measures {
  const counted = new LRUCache<string, true>({ max: REMEMBERED });
  const ended = new TeamCounts('status');
  const durations = new Set<(seconds: number) => void>();
  changes.subscribe((job) => {
    const result = resultOf(job);
    if (result === undefined || counted.has(`${job.id} ${result}`)) return;
    counted.set(`${job.id} ${result}`, true);
    ended.add(job.team_id, 1, result);
    const seconds = durationOf(job);
    if (seconds !== undefined) for (const observe of durations) observe(seconds);
  });
  return {
    teams: [
      {
        name: 'signalbox_jobs_ended_total',
        help: 'Jobs that got a result, by status; deleted: canceled before they ran',
        type: 'counter',
        label: { name: 'status', values: RESULTS },
        read: () => ended.values(),
      },
    ],
    histograms: [
      {
        name: 'signalbox_job_duration_seconds',
        help: 'From the beginning of a script on the router to its end',
        buckets: DURATIONS,
        listen: (observe) => void durations.add(observe),
      },
    ],
  };
}

/** Undefined while it has none, and for a finished job that is marked as deleted. */
function resultOf(job: JobRecord): Result | undefined {
  const status = statusOf(job);
  if (status === 'pending' || status === 'running') return undefined;
  return status === 'deleted' && job.phase !== 'canceled' ? undefined : status;
}

/** Seconds that the script ran; undefined when its end was not observed. */
function durationOf({
  phase,
  started_at: started,
  completed_at: completed,
  failed_at: failed,
  needs_acknowledgement: waits,
}: JobRecord): number | undefined {
  const end = completed ?? failed;
  return phase !== 'done' || waits !== 1 || started === null || end === null ? undefined : Math.max(0, end - started) / 1000;
}
