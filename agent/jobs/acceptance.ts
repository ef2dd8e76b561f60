import { MAX_OPEN_JOBS_PER_AGENT } from '../../protocol/index.ts';
import { mayHaveOneMore } from '../../runtime/fair-shares.ts';
import type { JobDeclined, JobOffer } from '../../protocol/index.ts';
import { AgentError } from '../core/errors.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import type { JournalEntry } from './journal/memory.ts';

/** Why an offered job is declined now; undefined when it can be accepted. */
export function declineReason(offer: JobOffer, routers: Routers, entries: readonly JournalEntry[]): JobDeclined['reason'] | undefined {
  try {
    findRouter(routers, offer.router, offer.hardware_id);
  } catch (error) {
    return reasonOf(error);
  }
  const holdsRouter = (entry: JournalEntry): boolean => entry.state === 'accepted' || entry.state === 'begun' || mayHaveGuard(entry);
  const isBusy = entries.some((entry) => entry.offer.router === offer.router && holdsRouter(entry));
  const held = entries.filter((entry) => entry.offer.router === offer.router).length;
  // Jobs of a router that cannot be cleaned up must not use the room of other routers.
  return isBusy || !mayHaveOneMore({ held, left: MAX_OPEN_JOBS_PER_AGENT - entries.length }) ? 'busy' : undefined;
}

function reasonOf(error: unknown): JobDeclined['reason'] {
  const code = error instanceof AgentError ? error.code : 'internal';
  if (code === 'invalid') return 'unknown_router';
  return code === 'wrong_router' ? 'wrong_router' : 'router_unreachable';
}

/**
 * Whether the job's undo guard may be on the router, where it would undo the next job. A guard without a record in the journal may
 * exist if the disk was restored.
 */
export function mayHaveGuard({ offer, guard, isArmed }: JournalEntry): boolean {
  return offer.undo_unless_reachable_seconds !== undefined && (isArmed || guard === undefined);
}
