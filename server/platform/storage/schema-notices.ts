import type { Fixed, Millis } from './schema-columns.ts';

/** What notifications are made of. */

/** A fact that a group may want to hear about, stored in the transaction of the fact (platform/notices). */
export interface NoticesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  kind: Fixed<string>;
  /** open, resolve or info. */
  phase: Fixed<string>;
  severity: Fixed<string>;
  /** What people see as one thing. */
  key: Fixed<string>;
  record_id: Fixed<string>;
  /** Orders the notices of one record. */
  version: Fixed<number>;
  router_id: Fixed<string | null>;
  agent_id: Fixed<string | null>;
  /** When it happened. */
  at: Fixed<Millis>;
  /** JSON. */
  data: Fixed<string>;
  stored_at: Fixed<Millis>;
  /** When it was given to the threads of the groups; null before. */
  routed_at: Millis | null;
}
