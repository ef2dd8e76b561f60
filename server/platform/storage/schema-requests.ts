import type { Fixed, Millis } from './schema-columns.ts';

/** Kept answers of requests, their counts, and the audit log. */

export interface IdempotencyKeysTable {
  team_id: Fixed<string>;
  /** Method and path it was used on: the same key elsewhere is another request. */
  scope: Fixed<string>;
  key: Fixed<string>;
  fingerprint: Fixed<string>;
  created_at: Millis;
  /** Null while the first request is under way. */
  status: number | null;
  response: string | null;
  /** The request that holds the key, by process and number; null in rows from before that column existed. */
  claim: string | null;
  /** The API key or person that used it first; null in rows from before that column existed. */
  caller: Fixed<string | null>;
  /** The control plane whose request holds it; null for one that serves the database alone. */
  node_id: string | null;
}

/** How many requests each caller has made lately, on PostgreSQL, where several control planes count together. */
export interface RequestCountsTable {
  key: Fixed<string>;
  /** As many as there may be in the window. */
  most: number;
  /** What the last count was asked for and found room for. */
  granted: number;
  /** In the window at the last count. */
  total: number;
  /** When they were counted, by the clock of the database, microseconds, the oldest first. */
  stamps: number[];
  /** How many at each of them. */
  counts: number[];
}

export interface AuditLogTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  at: Fixed<Millis>;
  actor_kind: Fixed<string>;
  actor_id: Fixed<string>;
  source: Fixed<string>;
  action: Fixed<string>;
  target: Fixed<string | null>;
  result: Fixed<number>;
  /** What was made, where the target cannot say it. */
  detail: Fixed<string | null>;
  /** The router that it is about, if it is about one. There may be none with this id. */
  router_id: Fixed<string | null>;
}
