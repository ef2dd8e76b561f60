import { MAX_OPEN_JOBS_PER_AGENT } from '../../protocol/index.ts';
import { mayHaveOneMore } from '../../runtime/fair-shares.ts';
import type { JobDeclined, JobOffer } from '../../protocol/index.ts';
import { AgentError } from '../core/errors.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import type { JournalEntry } from './journal/memory.ts';

/** Why an offered job is not taken now; undefined when it may be. */
export function declineReason(offer: JobOffer, routers: Routers, entries: readonly JournalEntry[]): JobDeclined['reason'] | undefined {
  try {
    findRouter(routers, offer.router, offer.hardware_id);
  } catch (error) {
    return reasonOf(error);
  }
  const holdsRouter = (entry: JournalEntry): boolean => entry.state === 'accepted' || entry.state === 'begun' || mayUndo(entry);
  const isBusy = entries.some((entry) => entry.offer.router === offer.router && holdsRouter(entry));
  const held = entries.filter((entry) => entry.offer.router === offer.router).length;
  // A router on which nothing can be tidied up leaves room for the jobs of the others.
  return isBusy || !mayHaveOneMore({ held, left: MAX_OPEN_JOBS_PER_AGENT - entries.length }) ? 'busy' : undefined;
}

function reasonOf(error: unknown): JobDeclined['reason'] {
  const code = error instanceof AgentError ? error.code : 'internal';
  if (code === 'invalid') return 'unknown_router';
  return code === 'wrong_router' ? 'wrong_router' : 'router_unreachable';
}

/**
 * Its guard may be on the router, and would undo what the next job does. One that the journal does not know of is from
 * before its disk was restored.
 */
export function mayUndo({ offer, guard, isArmed }: JournalEntry): boolean {
  return offer.undo_unless_reachable_seconds !== undefined && (isArmed || guard === undefined);
}
