import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** A right that was lowered or removed, and what ended because of it. */
export interface RevocationsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** api_key, member, password, client or agent. */
  kind: Fixed<string>;
  /** Of the key, the person, the client or the agent. */
  subject_id: Fixed<string>;
  created_at: Fixed<Millis>;
  /** Also revoke the API keys that the subject made. */
  revoke_keys: Fixed<Flag>;
  /** Number of passes so far. */
  passes: number;
  /** Time of the next pass; null after the last one. */
  due_at: Millis | null;
  /** JSON: what ended, and what continues. */
  report: string | null;
}
