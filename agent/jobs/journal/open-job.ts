import type { JobResult, OpenJob } from '../../../protocol/index.ts';
import type { JournalEntry } from './memory.ts';

/** A journal entry as `ready` lists it. */
export function toOpenJob({ offer: { job_id }, state, result }: JournalEntry): OpenJob {
  if (state === 'ended') return { job_id, state, result: result as JobResult };
  return { job_id, state };
}
