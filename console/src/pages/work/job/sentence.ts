import type { JobDetail } from '../../../../../client/browser.ts';
import { dueTime, lengthOf, shortTime } from '../../../parts/times.ts';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { preparationsOf } from './timeline.ts';
import { endOf, isRefusedByCheck, reasonWords, tookWords } from '../words.ts';

/** Said after a check that refused the script. */
const REFUSED = 'nothing ran, no backup was taken.';

/** What became of a job, since when and why. */
export function jobSentence(job: JobDetail, agentName: string | null): { strong: string; weak: string } {
  const { status, reason, started_at: startedAt, accepted_at: acceptedAt, guard } = job;
  const end = endOf(job);
  const at = end === null ? '' : ` ${shortTime(end)}`;
  const took = startedAt === null || end === null ? '' : lengthBetween(startedAt, end);
  const agent = agentName === null ? 'its agent' : `agent ${agentName}`;
  switch (status) {
    case 'pending':
      return acceptedAt === null
        ? { strong: 'It waits.', weak: `Until ${dueTime(job.expires_at)} for its router; then it expires and never runs.` }
        : {
            strong: 'Its agent has it.',
            weak: `${sentenceCase(agent)} ${preparationsOf(job)} as soon as the router is free; then the script runs.`,
          };
    case 'running':
      return guard?.state === 'armed'
        ? { strong: 'The script ran or runs, and its undo guard is armed.', weak: '' }
        : { strong: 'The script runs.', weak: `Since ${shortTime(startedAt)}.` };
    case 'completed':
      return { strong: `Done${at}.`, weak: job.needs_acknowledgement ? took : 'The agent has it on disk; nobody waited for its end.' };
    case 'failed':
      return reason === 'rolled_back'
        ? {
            strong: `The router undid it${at}.`,
            weak: 'The agent did not reach it in time over a new connection, so it loaded its restore point.',
          }
        : isRefusedByCheck(job)
          ? { strong: `Refused by the router's check of the script${at}:`, weak: REFUSED }
          : { strong: `Failed${at}: ${reasonWords(reason)}.`, weak: took };
    case 'expired':
      return { strong: `Expired${at}.`, weak: 'The router did not come in time; the script certainly never ran.' };
    case 'deleted':
      return startedAt === null
        ? { strong: `Canceled${at}.`, weak: 'The script never ran.' }
        : { strong: `Marked as deleted${at}.`, weak: 'What it did before is still told here.' };
    case 'unknown':
      return { strong: 'Nobody knows the outcome.', weak: reason === null ? '' : `${sentenceCase(reasonWords(reason))}.` };
  }
}

function lengthBetween(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return `It took ${tookWords(ms) || lengthOf(ms)}.`;
}
