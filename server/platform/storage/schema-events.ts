import type { Fixed } from './schema-columns.ts';

/** Where the event stream of a team stood at the stop. */
export interface EventPositionsTable {
  team_id: Fixed<string>;
  origin: Fixed<string>;
  last: Fixed<number>;
  /** JSON list of the routers that were last said to be online. */
  online: Fixed<string>;
}

export interface KeptEventsTable {
  team_id: Fixed<string>;
  number: Fixed<number>;
  type: Fixed<string>;
  /** As it is written to readers. */
  content: Fixed<string>;
}
