import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** Agents, their routers, and the state of these. */

export interface EnrolTokensTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  secret_hash: Fixed<string>;
  created_at: Fixed<Millis>;
  expires_at: Fixed<Millis>;
  used_at: Millis | null;
  revoked_at: Millis | null;
  agent_id: string | null;
  /** The agent that the newly enrolled one replaces. */
  replaces_agent_id: Fixed<string | null>;
}

export interface AgentsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  name: string;
  secret_hash: string;
  version: string | null;
  created_at: Fixed<Millis>;
  revoked_at: Millis | null;
  /** Raised at every hello; the newest connection wins. */
  epoch: number;
  /** The newest epoch that the agent has confirmed to have stored. */
  confirmed_epoch: number;
  journal_id: string | null;
  connected_at: Millis | null;
  disconnected_at: Millis | null;
  /** The control plane that had its tunnel last, where several serve the database; null where one has always served it alone. */
  node_id: string | null;
  /** Set when a revoked agent was removed from the lists. */
  removed_at: Millis | null;
}

export interface RoutersTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  site_id: string | null;
  /** Serial number, else software or system id: who this router is inside the team. */
  hardware_id: string;
  agent_id: string;
  /** Its name in that agent's configuration. Empty once another device answers there. */
  agent_router: string;
  serial_number: string | null;
  software_id: string | null;
  identity: string;
  software_version: string;
  /** Orders versions (routeros-text/versions.ts). For routers from before migration 27 it is empty until the next start. */
  version_key: Generated<string>;
  model: string | null;
  board_name: string;
  hardware_board: Flag;
  architecture: string | null;
  time_zone: string | null;
  /** Levels of terminals that its agent opens on it, with commas between them. Null: an older agent, which does not say. */
  terminal_levels: Generated<string | null>;
  created_at: Fixed<Millis>;
  updated_at: Millis;
  /** Since then only its history is shown. */
  removed_at: Millis | null;
  /** The router that took over this hardware: this record is no longer shown. */
  merged_into: string | null;
}

/** Written often and in chunks, so it is a narrow table of its own. */
export interface RouterPresenceTable {
  router_id: Fixed<string>;
  reachable: Flag;
  uptime_seconds: number | null;
  last_seen_at: Millis | null;
  /** Address the agent's tunnel came from. */
  last_seen_from: string | null;
}

/** Positions from routers' own GPS receivers. */
export interface RouterPositionsTable {
  router_id: Fixed<string>;
  latitude: number;
  longitude: number;
  reported_at: Millis;
}

export interface FaultsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  type: Fixed<string>;
  severity: string;
  message: string;
  cause: string;
  /** JSON: the cause as codes with their values (`platform/notices/causes`). Null in rows of older versions. */
  causes: string | null;
  /** When it began, which may be before it was detected. */
  created_at: Fixed<Millis>;
  resolved_at: Millis | null;
  /** How often it opened; a fault that returns soon reopens its record. */
  occurrences: number;
  updated_at: Millis;
}

/** Claims of agents on routers that belong to another agent. */
export interface RouterMovesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** The claiming agent, and its name for the router. */
  agent_id: Fixed<string>;
  agent_router: string;
  /** JSON: its inventory, to be stored when the move is approved. */
  facts: string;
  /** Source address of that agent's tunnel. */
  address: string;
  /** pending, approved or refused. */
  state: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}
