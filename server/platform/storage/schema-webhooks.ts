import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** The tables of migration 4: webhooks about jobs. */

/** One change of a job's public status, stored in the same transaction, with the state of its delivery. */
export interface JobEventsTable {
  /** `webhook-id`: the same in every attempt. */
  id: Fixed<string>;
  team_id: Fixed<string>;
  job_id: Fixed<string>;
  /** The job's version that it reports: rising, with gaps. */
  seq: Fixed<number>;
  type: Fixed<string>;
  /** JSON, sent as it is. */
  body: Fixed<string>;
  /** Of `notify_url`: limits of receivers count by it. */
  origin: Fixed<string>;
  state: string;
  /** Made in the present round; a resend begins a new one. */
  attempts: number;
  /** When the next attempt may be made; null after the last one. */
  due_at: Millis | null;
  /** Which attempt holds it, and until when. */
  claim: string | null;
  claimed_until: Millis | null;
  created_at: Fixed<Millis>;
  settled_at: Millis | null;
}

export interface JobEventAttemptsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  event_id: Fixed<string>;
  at: Fixed<Millis>;
  duration_ms: Fixed<number>;
  /** HTTP status; null when no answer came. */
  status: Fixed<number | null>;
  /** Why it counts as failed, as a stable word. */
  error: Fixed<string | null>;
}

export interface WebhookSecretsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Encrypted (secrets.ts). */
  secret: Fixed<string>;
  /** An administrator has seen it; one that the server generated has not been shown. */
  shown: Flag;
  created_at: Fixed<Millis>;
  /** Null: the one in use. Otherwise it still signs until then. */
  expires_at: Millis | null;
}
