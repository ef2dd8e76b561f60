import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** Forwards to targets behind routers, and their connections. */

export interface ForwardsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  port: number;
  allow_only_cidr: string;
  dst_address: Fixed<string>;
  dst_port: Fixed<number>;
  entry_point: string;
  /** Its home, of several control planes; null where one serves the database alone. */
  node_id: string | null;
  /** SHA-256 of the bearer of its channel dials. */
  channel_token_hash: string;
  way: string | null;
  way_reason: string | null;
  target_reachable: Flag | null;
  /** The agent's rules forbid the target: it is not asked again on this tunnel. */
  refused: Generated<Flag>;
  created_by: Fixed<string>;
  /** The client through which that person asked, if any. */
  created_via: Fixed<string | null>;
  /** Null where its maker chose none. */
  idempotency_key: Fixed<string | null>;
  created_at: Fixed<Millis>;
  authorized_at: Millis | null;
  expires_at: Millis;
  /** When `expires_at` was set; null: when the forward was created. */
  renewed_at: Millis | null;
  /** When the entry port was closed for good, by expiry or revocation. */
  closed_at: Millis | null;
  revoked_at: Millis | null;
  refused_attempts: number;
  /** Idle timeout of a connection, seconds; null for none. */
  idle_seconds: Fixed<number | null>;
  /** Limit of concurrent connections; null for the general limit. */
  max_connections: Fixed<number | null>;
  /** Totals of all ended connections. */
  connection_count: Generated<number>;
  bytes_in: Generated<number>;
  bytes_out: Generated<number>;
}

export interface ForwardConnectionsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  forward_id: Fixed<string>;
  /** The control plane that carries it, of several. */
  node_id: Fixed<string | null>;
  source: Fixed<string>;
  opened_at: Fixed<Millis>;
  closed_at: Millis;
  bytes_in: number;
  bytes_out: number;
  ended_by: string;
}
