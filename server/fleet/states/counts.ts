import type { RouterState, RouterStateName } from './types.ts';

/** How many routers are in each state. */
export function countStates(routers: Iterable<Pick<RouterState, 'state'>>): Record<RouterStateName, number> {
  const counts: Record<RouterStateName, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
  for (const { state } of routers) counts[state] += 1;
  return counts;
}
