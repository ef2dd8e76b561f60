import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

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
  /** `draining`: it gives its tunnels to others and takes no new work. Whoever sets it is obeyed with the next beat. */
  state: Generated<'up' | 'draining'>;
  /** Its agents, as of its last beat. */
  tunnels: Generated<number>;
  /** Open connections of clients of forwards, terminals and event streams, as of its last beat. */
  clients: Generated<number>;
  /** Whether its last beat said that the bus was connected. */
  on_bus: Generated<Flag>;
  /** The newest schema that it knows. Null for a program before schema 69. */
  program_schema: Fixed<number | null>;
  /** Ids of its secret keys, separated by spaces, the one that encrypts first. Null for one that serves the database alone. */
  keys: Fixed<string | null>;
  /** When its own TLS certificate expires. Null for one that has none, and before it has looked. */
  certificate_ends_at: Generated<Millis | null>;
}

/** A key with which control planes of this database encrypt or have encrypted; the newest one must be in the key file of each. */
export interface SecretKeysTable {
  id: Fixed<string>;
  /** A keyed hash that only the same key makes. */
  fingerprint: Fixed<string>;
  created_at: Fixed<Millis>;
}
