import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** Agents, their routers, and what is known of these. */

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
  /** Whoever enrols with it goes on as this agent. */
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
  /** The newest epoch the agent has confirmed to have on disk. */
  confirmed_epoch: number;
  journal_id: string | null;
  connected_at: Millis | null;
  disconnected_at: Millis | null;
  /** It is revoked, and in no list any more. */
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
  /** Orders versions (routeros-text/versions.ts). Empty until the next start for routers of before migration 27. */
  version_key: Generated<string>;
  model: string | null;
  board_name: string;
  hardware_board: Flag;
  architecture: string | null;
  time_zone: string | null;
  created_at: Fixed<Millis>;
  updated_at: Millis;
  /** From then on only what is known of its past is shown. */
  removed_at: Millis | null;
  /** The router that goes on with this hardware: this record is shown nowhere. */
  merged_into: string | null;
}

/** Written often and in chunks, so it is narrow and apart. */
export interface RouterPresenceTable {
  router_id: Fixed<string>;
  reachable: Flag;
  uptime_seconds: number | null;
  last_seen_at: Millis | null;
  /** Address the agent's tunnel came from. */
  last_seen_from: string | null;
}

/** Where a router says it stands, by its own GPS receiver. */
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
  /** When it began, which is before it was noticed. */
  created_at: Fixed<Millis>;
  resolved_at: Millis | null;
  /** How often it came back within its time. */
  occurrences: number;
  updated_at: Millis;
}

/** What another agent says of a router that belongs to one already. */
export interface RouterMovesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** Who claims it, and its name there. */
  agent_id: Fixed<string>;
  agent_router: string;
  /** JSON: the inventory it told, for the moment when the move is approved. */
  facts: string;
  /** Where that agent's tunnel came from. */
  address: string;
  /** pending, approved or refused. */
  state: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}
