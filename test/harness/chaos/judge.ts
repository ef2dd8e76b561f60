import type { FleetRecord, Run } from './fleet-messages.ts';
import type { Acknowledged } from './job-load.ts';

/** A job as the API shows it. */
export interface ShownJob {
  id: string;
  idempotency_key: string;
  status: string;
  phase: string;
  reason: string | null;
  error: string | null;
  output: string | null;
}

export interface Verdict {
  acknowledged: number;
  lost: number;
  twice: number;
  false: number;
  unknown: number;
  outcomes: Record<string, number>;
  violations: string[];
}

/** Compares the control plane's results of acknowledged jobs with the real runs on the routers. */
export function judgeJobs(acknowledged: readonly Acknowledged[], jobs: readonly ShownJob[], record: FleetRecord): Verdict {
  const verdict: Verdict = {
    acknowledged: acknowledged.length,
    lost: 0,
    twice: 0,
    false: 0,
    unknown: 0,
    outcomes: {},
    violations: [...record.leftovers],
  };
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const runsOf = Map.groupBy(record.runs, (run) => run.jobId);
  const restored = new Set(record.restores.map(({ jobId }) => jobId));
  const undone = new Set(record.restores.filter(({ hadRun }) => hadRun).map(({ jobId }) => jobId));
  for (const promised of acknowledged) {
    const job = byId.get(promised.jobId);
    const runs = runsOf.get(promised.jobId) ?? [];
    const outcome = job ? toldOf(job) : 'lost';
    verdict.outcomes[outcome] = (verdict.outcomes[outcome] ?? 0) + 1;
    if (job?.phase === 'unknown') verdict.unknown += 1;
    const fault = faultOf(job, runs, {
      isRestored: restored.has(promised.jobId),
      isUndone: undone.has(promised.jobId),
      isSyntaxError: promised.kind === 'syntax',
    });
    if (!fault) continue;
    verdict[fault.kind] += 1;
    verdict.violations.push(`${promised.jobId} (${promised.kind}): ${fault.text}; ${JSON.stringify(job)}; ${JSON.stringify(runs)}`);
  }
  for (const [key, same] of Map.groupBy(jobs, (job) => job.idempotency_key)) {
    if (same.length > 1) verdict.violations.push(`key ${key} made ${same.length} jobs`);
  }
  return verdict;
}

function toldOf(job: ShownJob): string {
  if (job.phase === 'done') return job.reason === null ? 'completed' : `failed ${job.reason}`;
  return job.phase;
}

/** What the router may have done, by reported status. */
const TRUTHS: Record<string, readonly string[]> = {
  completed: ['ok'],
  'failed script_error': ['error'],
  'failed rejected': ['never'],
  'failed backup_failed': ['never'],
  'failed timed_out': ['interrupted', 'never'],
  'failed rolled_back': ['undone', 'restored'],
  expired: ['never'],
  canceled: ['never'],
  unknown: ['ok', 'error', 'interrupted', 'running', 'never', 'undone', 'restored'],
};

interface Fault {
  kind: 'lost' | 'twice' | 'false';
  text: string;
}

function faultOf(
  job: ShownJob | undefined,
  runs: readonly Run[],
  { isRestored, isUndone, isSyntaxError }: { isRestored: boolean; isUndone: boolean; isSyntaxError: boolean },
): Fault | undefined {
  if (!job) return { kind: 'lost', text: 'lost' };
  if (runs.length > 1) return { kind: 'twice', text: `ran ${runs.length} times (${runs.map(({ outcome }) => outcome).join()})` };
  const [run] = runs;
  const did = run ? (isUndone ? 'undone' : (run.outcome ?? 'running')) : isRestored ? 'restored' : 'never';
  const told = toldOf(job);
  if (isSyntaxError && told === 'failed script_error' && did === 'never') return undefined;
  if (TRUTHS[told]?.includes(did) === true) return undefined;
  // The report said that this might still happen.
  if (job.phase === 'done' && did === 'restored' && job.error?.includes('the undo guard may still restore') === true) return undefined;
  return { kind: 'false', text: `is ${told}, but the router says ${did}` };
}
