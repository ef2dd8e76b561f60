import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What callers are told about their jobs: the events, each attempt to deliver one, and what they are signed with. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    // `due_at` is null once nothing more is to be sent; any comparison with it implies that it is not.
    `create table job_events (
      id ${text} primary key, team_id ${text} not null references teams (id),
      job_id ${text} not null references jobs (id) on delete cascade, seq bigint not null, type ${text} not null,
      body ${text} not null, origin ${text} not null, state ${text} not null, attempts integer not null, due_at bigint,
      claim ${text}, claimed_until bigint, created_at bigint not null, settled_at bigint)`,
    'create unique index job_events_by_job on job_events (job_id, seq)',
    'create index job_events_due on job_events (due_at) where due_at is not null',
    'create index job_events_settled on job_events (settled_at) where settled_at is not null',
    `create table job_event_attempts (
      id ${text} primary key, team_id ${text} not null references teams (id),
      event_id ${text} not null references job_events (id) on delete cascade, at bigint not null,
      duration_ms bigint not null, status integer, error ${text})`,
    'create index job_event_attempts_by_event on job_event_attempts (event_id, at, id)',
    `create table webhook_secrets (
      id ${text} primary key, team_id ${text} not null references teams (id), secret ${text} not null,
      shown smallint not null, created_at bigint not null, expires_at bigint)`,
    // One that signs, beside those that are on their way out.
    'create unique index webhook_secrets_current on webhook_secrets (team_id) where expires_at is null',
    'create index webhook_secrets_by_team on webhook_secrets (team_id, created_at)',
    // Jobs from before this step have never been told of: their past is no news.
    'update jobs set notified_version = version',
  ];
}

export const webhooks: Migration = { number: 4, name: 'webhooks', statements };
