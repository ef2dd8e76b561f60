import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** One script for many routers: what was asked for, and how far each router is. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table campaigns (
      id ${text} primary key, team_id ${text} not null references teams (id), request_id ${text} not null,
      idempotency_key ${text} not null, created_by ${text} not null, description ${text} not null, script ${text} not null,
      express_execute smallint not null, needs_acknowledgement smallint not null, make_backup smallint not null,
      notify_url ${text}, timeout_seconds integer, deliver_within_minutes integer not null, canary_count integer not null,
      rate_per_minute integer, most_at_once integer not null, abort_after_failures integer, abort_at_percent integer,
      target_count integer not null, state ${text} not null, stop_reason ${text}, stop_message ${text},
      next_start_at bigint not null, created_at bigint not null, finished_at bigint)`,
    'create index campaigns_by_team on campaigns (team_id, created_at, id)',
    'create index campaigns_by_key on campaigns (team_id, idempotency_key)',
    'create index campaigns_open on campaigns (id) where finished_at is null',
    `create table campaign_targets (
      campaign_id ${text} not null references campaigns (id) on delete cascade,
      team_id ${text} not null references teams (id), router_id ${text} not null references routers (id),
      position integer not null, canary smallint not null, status ${text} not null, claimed_at bigint,
      job_id ${text} references jobs (id), job_version bigint, reason ${text}, output_hash ${text}, settled_at bigint,
      primary key (campaign_id, router_id))`,
    'create unique index campaign_targets_in_order on campaign_targets (campaign_id, position)',
    // Counting by status is the most frequent question: it is answered from this index alone.
    'create index campaign_targets_by_status on campaign_targets (campaign_id, status, canary)',
    // Those that a late result may still correct; asked for with these very words, so that the index is used.
    "create index campaign_targets_correctable on campaign_targets (job_id) where status in ('unknown', 'expired', 'deleted')",
    // At most one job for each router of a campaign, whoever makes it and however often. Callers cannot choose such keys.
    "create unique index jobs_of_campaigns on jobs (router_id, idempotency_key) where substr(idempotency_key, 1, 9) = 'campaign '",
  ];
}

export const campaigns: Migration = { number: 5, name: 'campaigns', statements };
