import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** A right that was taken away, and what was ended because of it. */
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
  /** How often was looked for what is to be ended. */
  passes: number;
  /** When it is looked for (again); null once that is over. */
  due_at: Millis | null;
  /** JSON: what ended, and what goes on. */
  report: string | null;
}
