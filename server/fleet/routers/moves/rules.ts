import type { MoveRules, Owner } from './types.ts';

/**
 * Why a router may go over to another agent that reports it; undefined when somebody has to approve. A serial number is
 * no secret: whoever knows it must not receive the router's scripts for naming it.
 */
export function reasonToMove(owner: Owner, rules: MoveRules): string | undefined {
  if (rules.free) return 'moves are free (SIGNALBOX_ROUTER_MOVES)';
  if (owner.revoked) return 'the agent that had it is revoked';
  if (owner.dropped) return 'the agent that had it no longer has it';
  if (owner.awayMs >= rules.afterMs) return `the agent that had it has been away for ${Math.floor(owner.awayMs / 1000)} seconds`;
  return undefined;
}
