import type { Selectable } from 'kysely';
import type { RouterStateChangesTable } from '../../platform/storage/schema-history.ts';

export const ROUTER_STATES = ['answering', 'not_answering', 'agent_away', 'never_seen'] as const;

export type RouterStateName = (typeof ROUTER_STATES)[number];

export type StateRow = Selectable<RouterStateChangesTable>;

/** The one state of a router. */
export interface RouterState {
  state: RouterStateName;
  /** Milliseconds since 1970. */
  since: number;
  /** `not_answering`: the reason code of the agent. `agent_away`: how the agent's last tunnel ended. Otherwise null. */
  reason: string | null;
}

/** One router of a team and its state. */
export interface StateOfRouter extends RouterState {
  id: string;
  agentId: string;
}

/** A router's state, or its reason, has changed. */
export interface StateChange extends RouterState {
  teamId: string;
  routerId: string;
  identity: string;
  agentId: string;
  before: RouterStateName;
}

/** A router's state with a monotonic time. */
export interface Verdict {
  state: RouterStateName;
  since: number;
  reason: string | null;
}

/** The agent is connected and does not report the router: it was removed from the configuration, or another device answers under its name. */
export const NOT_REPORTED = 'not_reported';

/** A router as the database has it. */
export interface StoredRouter {
  id: string;
  team_id: string;
  identity: string;
  agent_id: string;
  agent_router: string;
  created_at: number;
  last_seen_at: number | null;
}

/** A router and its present state as they are stored; undefined for one without a stored state. */
export interface ToldRouter {
  router: StoredRouter;
  current: StateRow | undefined;
}
