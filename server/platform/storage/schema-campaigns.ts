import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** The tables of migrations 5 and 7: one script for many routers. */

export interface CampaignsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  request_id: Fixed<string>;
  idempotency_key: Fixed<string>;
  created_by: Fixed<string>;
  /** The client through which that person asked, if any. */
  created_via: Fixed<string | null>;
  description: Fixed<string>;
  script: Fixed<string>;
  express_execute: Fixed<Flag>;
  needs_acknowledgement: Fixed<Flag>;
  make_backup: Fixed<Flag>;
  notify_url: Fixed<string | null>;
  timeout_seconds: Fixed<number | null>;
  undo_seconds: Fixed<number | null>;
  deliver_within_minutes: Fixed<number>;
  canary_count: Fixed<number>;
  rate_per_minute: Fixed<number | null>;
  most_at_once: Fixed<number>;
  abort_after_failures: Fixed<number | null>;
  abort_at_percent: Fixed<number | null>;
  target_count: Fixed<number>;
  state: string;
  stop_reason: string | null;
  stop_message: string | null;
  /** No further job may start before this time: it keeps the rate across restarts. */
  next_start_at: Millis;
  created_at: Fixed<Millis>;
  /** When it had ended and all of its jobs had a result. */
  finished_at: Millis | null;
  /** JSON: number of targets by status, stored once the campaign is over (counts.ts). */
  final_counts: string | null;
}

/** One router of a campaign, fixed when the campaign is made. */
export interface CampaignTargetsTable {
  campaign_id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** From 0, in the requested order. */
  position: Fixed<number>;
  canary: Fixed<Flag>;
  /** waiting, claimed (its job is being made), started (the job says the rest), or the job's final status. */
  status: string;
  claimed_at: Millis | null;
  job_id: string | null;
  /** Version of the job when its result was recorded: a late result of an `unknown` job raises it. */
  job_version: number | null;
  reason: string | null;
  /** Equal for routers with the same output. */
  output_hash: string | null;
  settled_at: Millis | null;
}
