import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** History: states of routers, sessions of agents, and the times in which a control plane ran. */

/** One run of a control plane without a step of its clock. Outside these times nothing is known of any router. */
export interface ServerRunsTable {
  id: Fixed<string>;
  started_at: Fixed<Millis>;
  /** Written every few seconds: where it ended when the program was killed. */
  alive_at: Millis;
  stopped_at: Millis | null;
  /** The control plane, where several serve the database. */
  node_id: Fixed<string | null>;
}

/** One state of a router, from then to then. The one without an end is the present one. */
export interface RouterStateChangesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** answering, not_answering, agent_away or never_seen; the latest one, of a router that changed it too often for rows of their own. */
  state: string;
  reason: string | null;
  since: Millis;
  until: Millis | null;
}

/** One tunnel of an agent. */
export interface AgentSessionsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  agent_id: Fixed<string>;
  /** Null: it ended before `welcome`. */
  epoch: number | null;
  opened_at: Millis;
  ready_at: Millis | null;
  closed_at: Millis | null;
  address: Fixed<string>;
  agent_version: string | null;
  reset: Flag;
  ended_by: string | null;
  /** Microseconds; null without an answered ping. */
  round_trip_min_us: number | null;
  round_trip_p50_us: number | null;
  round_trip_p95_us: number | null;
  pings_answered: number;
  pings_lost: number;
  /** Null while it is open, and when the control plane was killed. */
  bytes_in: number | null;
  bytes_out: number | null;
  /** The control plane that has or had it, where several serve the database. */
  node_id: Fixed<string | null>;
}
