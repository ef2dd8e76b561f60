import type { Generated } from 'kysely';
import type { Fixed, Millis } from './schema-columns.ts';

/** Terminals of routers, and their recordings. */

export interface TerminalsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: string;
  agent_id: Fixed<string>;
  /** The control plane that has it, of several; null where one serves the database alone. */
  node_id: string | null;
  /** `read` or `full`. */
  level: Fixed<string>;
  /** Why it was opened, as its opener wrote it. */
  reason: Fixed<string>;
  opened_by: Fixed<string>;
  /** `user` or `api_key`. */
  opened_by_kind: Fixed<string>;
  /** The client through which that person acts, if any. */
  opened_via: Fixed<string | null>;
  /** When that person signed in; null for an API key. */
  signed_in_at: Fixed<Millis | null>;
  /** Address of the opener. */
  source: Fixed<string>;
  created_at: Fixed<Millis>;
  /** When the router's shell was open. */
  opened_at: Millis | null;
  ended_at: Millis | null;
  end_reason: string | null;
  end_message: string | null;
  /** Who ended it, if a person or program did. */
  ended_by: string | null;
  /** Size of the window at its opening. */
  cols: Fixed<number>;
  rows: Fixed<number>;
  /** Bytes of the shell's output that are recorded. */
  output_bytes: Generated<number>;
  input_bytes: Generated<number>;
  /** Length of the recording, characters. */
  recording_chars: Generated<number>;
  recording_chunks: Generated<number>;
  /** When the recording was deleted. */
  recording_deleted_at: Millis | null;
}

export interface TerminalRecordingsTable {
  terminal_id: Fixed<string>;
  /** Parts of one recording, from 0. */
  number: Fixed<number>;
  team_id: Fixed<string>;
  /** Encrypted (secrets.ts): a screen may show passwords and keys. */
  content: Fixed<string>;
  stored_at: Fixed<Millis>;
}
