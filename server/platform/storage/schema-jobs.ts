import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

export interface JobsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  site_id: Fixed<string | null>;
  /** `token` of a job in docs/interface.md. */
  token: Fixed<string>;
  request_id: Fixed<string>;
  idempotency_key: Fixed<string>;
  description: Fixed<string>;
  script: Fixed<string>;
  express_execute: Fixed<Flag>;
  needs_acknowledgement: Fixed<Flag>;
  make_backup: Fixed<Flag>;
  notify_url: Fixed<string | null>;
  timeout_ms: Fixed<number>;
  phase: string;
  reason: string | null;
  error: string | null;
  output: string | null;
  output_truncated: Flag;
  /** Agent and epoch that hold it, from `accepted` on. */
  agent_id: string | null;
  epoch: number | null;
  /** The key or person that asked for it; null for jobs from before migration 14. */
  created_by: Fixed<string | null>;
  /** The client through which that person asked, if any. */
  created_via: Fixed<string | null>;
  created_at: Fixed<Millis>;
  expires_at: Millis;
  accepted_at: Millis | null;
  started_at: Millis | null;
  /** When the control plane gives up waiting for the result of an accepted or running job. */
  overdue_at: Millis | null;
  completed_at: Millis | null;
  failed_at: Millis | null;
  deleted_at: Millis | null;
  /** Raised in the same statement as every transition. */
  version: number;
  /** The version up to which `job_events` has all events; only kept for jobs with a `notify_url`. */
  notified_version: number;
  /** Undo guard: seconds within which reachability must be proved; null for none. */
  undo_seconds: Fixed<number | null>;
  /** Notes of its transitions, as work/jobs/timeline/notes.ts writes them; null for those that only wait and for older jobs. */
  transitions: string | null;
  /** armed, disarmed or fired, as its agent says; null before, and for agents that do not say. */
  guard_state: string | null;
  guard_armed_at: Millis | null;
  /** When the armed guard undoes the script. Moves along when somebody sets the clock. */
  guard_fires_at: Millis | null;
  /** The stored backup that was taken for it. */
  backup_id: string | null;
  /** 1 until the backup that it leaves on its router is recorded, once; 0 without one. */
  backup_to_record: Generated<Flag>;
}
