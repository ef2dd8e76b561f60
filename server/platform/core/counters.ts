/** Limits that a peer or a team can run into. Each is a line of docs/limits.md and a label of one metric. */
export const LIMITS = [
  'quiet_connections',
  'tunnel_budget',
  'tunnel_abuse',
  'tunnel_dials',
  'channel_dials',
  'tunnels_per_agent',
  'replies_per_tunnel',
  'replies_per_team',
  'replies_in_all',
  'reply_stalled',
  'routers_per_agent',
  'routers_per_team',
  'devices_per_router',
  'devices_per_team',
  'diff_queue',
  'diff_time',
  'kept_answers_per_team',
  'kept_answers_per_caller',
  'requests_per_team',
  'api_keys_per_team',
  'rotated_api_keys_per_team',
  'clients_per_team',
  'campaigns_per_team',
  'campaign_routers_a_day',
  'sites_per_team',
  'members_per_team',
  'agents_per_team',
  'enrol_tokens_per_team',
  'open_jobs_per_team',
  'kept_records_per_team',
  'backup_bytes_per_team',
  'job_output_bytes_per_team',
  'terminal_recordings_per_team',
] as const;

export type Limit = (typeof LIMITS)[number];

/** Tables written in batches that hold rows of many peers. */
export const BATCHED_ROWS = ['presence', 'faults', 'audit', 'connections', 'states', 'sessions', 'link_steps', 'health_steps'] as const;

export type BatchedRows = (typeof BATCHED_ROWS)[number];

/** How often each limit was reached since the start, for the metrics. */
export class Counters {
  readonly #counts = new Map<Limit, number>(LIMITS.map((limit) => [limit, 0]));

  /** Agent messages that contained invalid text or values from a router. */
  cleanedMessages = 0;

  /** Rows that the database rejected and that were dropped from their batch. */
  readonly refusedRows = Object.fromEntries(BATCHED_ROWS.map((rows) => [rows, 0])) as Record<BatchedRows, number>;

  add(limit: Limit): void {
    this.#counts.set(limit, this.get(limit) + 1);
  }

  refuseRows(of: BatchedRows, count: number): void {
    this.refusedRows[of] += count;
  }

  get(limit: Limit): number {
    return this.#counts.get(limit) ?? 0;
  }
}
