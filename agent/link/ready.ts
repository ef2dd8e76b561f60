import type { AgentMessage, OpenJob } from '../../protocol/index.ts';

type Ready = Extract<AgentMessage, { type: 'ready' }>;
type JobEnded = Extract<AgentMessage, { type: 'job.ended' }>;

/** Bytes of results inside `ready`: half a message, so that the list itself always fits. */
const RESULTS_BUDGET_BYTES = 512 * 1024;

/**
 * The agent's list of open jobs as messages. A job whose result does not fit into `ready` is listed as begun; its `job.ended`
 * follows at once.
 */
export function readyMessages(epoch: number, journalId: string, jobs: OpenJob[]): { ready: Ready; results: JobEnded[] } {
  const results: JobEnded[] = [];
  let budget = RESULTS_BUDGET_BYTES;
  const listed = jobs.map((job): OpenJob => {
    if (job.state !== 'ended') return job;
    const bytes = Buffer.byteLength(JSON.stringify(job));
    if (bytes <= budget) {
      budget -= bytes;
      return job;
    }
    results.push({ type: 'job.ended', job_id: job.job_id, result: job.result });
    return { job_id: job.job_id, state: 'begun' };
  });
  return { ready: { type: 'ready', epoch, journal_id: journalId, jobs: listed }, results };
}
