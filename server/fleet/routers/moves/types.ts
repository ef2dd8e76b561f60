import type { Selectable } from 'kysely';
import type { RouterMovesTable, RoutersTable } from '../../../platform/storage/schema-routers.ts';

export type MoveRecord = Selectable<RouterMovesTable>;

/** A move with names for display. */
export interface ListedMove extends MoveRecord {
  identity: string;
  hardware_id: string;
  agent_name: string;
  owner_id: string;
  owner_name: string;
}

/** A move as the agent that claims the router sees it. */
export interface ClaimOfAgent {
  agent_router: string;
  state: MoveRecord['state'];
  hardware_id: string;
  /** The agent that has the router, and its name for it; empty once another device answers there. */
  owner_name: string;
  owner_router: string;
}

export interface MoveRules {
  /** An agent that is offline for this long may lose its routers to another, milliseconds. */
  afterMs: number;
  /** Every agent of the team may take every router. */
  free: boolean;
}

/** The state of the agent that has a router, for the decision on a claim. */
export interface Owner {
  revoked: boolean;
  /** It is connected and has not reported this router for a while, or has another device under its name. */
  dropped: boolean;
  /** How long it has had no tunnel, milliseconds; 0 while it has one. */
  awayMs: number;
}

export interface MoveChange {
  /** `reported_again`: the same claim on a new tunnel. */
  kind: 'requested' | 'reported_again' | 'refused' | 'withdrawn' | 'moved';
  teamId: string;
  router: Selectable<RoutersTable>;
  /** The agent that claims it, or has it now. */
  agentId: string;
  /** Its name there. */
  agentEntry: string;
  /** The agent that had it before, or still has it. */
  ownerId: string;
  /** Why, for people. */
  reason: string;
  /** The agent that has the router now. */
  holderName: string;
  /** Agents whose claims on this router still wait. */
  waiting: WaitingClaim[];
}

/** A pending claim with names for display. */
export interface WaitingClaim {
  agentId: string;
  agentName: string;
  /** Source address of its tunnel. */
  address: string;
  /** Its name for the router. */
  agentEntry: string;
}
