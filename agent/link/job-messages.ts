import type { JobHandlers, JobServerMessage } from './types.ts';

/** Hands one job message of the server to the host. */
export function handleJobMessage(jobs: JobHandlers, message: JobServerMessage): Promise<void> {
  switch (message.type) {
    case 'job.offer':
      return jobs.onOffer(message);
    case 'job.go':
      return jobs.onGo(message.job_id);
    case 'job.ack':
      return jobs.onAck(message.job_id);
    case 'job.revoke':
      return jobs.onRevoke(message.job_id);
  }
}
