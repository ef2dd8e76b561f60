import type { Fixed, Millis } from './schema-columns.ts';

/** A control plane that serves this database on PostgreSQL, alone or with others, or that was killed while it did. */
export interface NodesTable {
  id: Fixed<string>;
  /** Where it runs: `web-1, process 4711`. */
  name: Fixed<string>;
  version: Fixed<string>;
  /** Which process of which machine it is (nodes/process-identity.ts); null when the machine does not say. */
  process: Fixed<string | null>;
  /** Raised again and again. Only that it changes means something: no clocks are compared. */
  beat: number;
  /** How agents reach it. Null for one that serves the database alone. */
  public_url: Fixed<string | null>;
  started_at: Fixed<Millis>;
}
