import type { Fixed, Millis } from './schema-columns.ts';

/** What people set for themselves in the application, and the filters that they save. */

export interface PreferencesTable {
  team_id: Fixed<string>;
  user_id: Fixed<string>;
  /** JSON object: only the application knows what is in it. */
  content: string;
  /** Rises with each change. */
  version: number;
  updated_at: Millis;
}

export interface SavedViewsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Whose it is; null for the team's. */
  user_id: Fixed<string | null>;
  /** The list that it is of. */
  list: Fixed<string>;
  name: string;
  /** JSON: parameters of the list. */
  query: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}
