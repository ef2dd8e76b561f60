import type { FormerRun } from '../sessions/types.ts';
import type { RouterState, StateRow } from './types.ts';

/** The state after a time without a control plane. */
export function resumed(
  { state, reason, since }: StateRow,
  router: { agent_router: string },
  { endedAt, endedBy }: FormerRun,
): RouterState {
  const isKept = state === 'agent_away' || state === 'never_seen' || (state === 'not_answering' && router.agent_router === '');
  if (isKept) return { state: state, reason, since };
  return { state: 'agent_away', reason: endedBy, since: Math.max(since, endedAt) };
}

/** The first state of a router that is older than the history. */
export function firstState(
  { last_seen_at: seenAt, created_at: createdAt }: { last_seen_at: number | null; created_at: number },
  { endedBy }: FormerRun,
): RouterState {
  return seenAt === null
    ? { state: 'never_seen', reason: null, since: createdAt }
    : { state: 'agent_away', reason: endedBy, since: seenAt };
}
