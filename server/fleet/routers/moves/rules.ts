import type { MoveRules, Owner } from './types.ts';

/**
 * Why a router may move to another agent that reports it; undefined when an administrator has to approve. A serial number
 * is no secret: an agent must not receive the router's scripts just for reporting it.
 */
export function reasonToMove(owner: Owner, rules: MoveRules): string | undefined {
  if (rules.free) return 'moves are free (SIGNALBOX_ROUTER_MOVES)';
  if (owner.revoked) return 'the agent that had it is revoked';
  if (owner.dropped) return 'the agent that had it no longer has it';
  if (owner.awayMs >= rules.afterMs) return `the agent that had it has been offline for ${Math.floor(owner.awayMs / 1000)} seconds`;
  return undefined;
}
