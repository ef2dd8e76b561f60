import type { Migration } from './types.ts';

/** How long the files of a backup wait on a router that is away (work/backups), milliseconds. */
const TWO_WEEKS_MS = 14 * 24 * 3600_000;

/**
 * Whether the backup of a job is still to be recorded. Without it, a backup that was deleted looked like one that was never recorded, and came
 * back in place of newer ones. The index has only jobs that have left a backup which nobody has recorded: mostly none.
 */
function statements(): string[] {
  return [
    'alter table jobs add column backup_to_record smallint not null default 0',
    // Jobs under way; and those whose backup the control plane had no time to record before it was replaced: the last ones of their routers.
    // A clock that was set back has recorded backups before their jobs: those are found by their job.
    `update jobs set backup_to_record = 1 where make_backup = 1 and (phase in ('queued', 'accepted', 'running') or (
      created_at >= (select created_at from jobs order by id desc limit 1) - ${TWO_WEEKS_MS}
      and not exists (select 1 from backups where backups.router_id = jobs.router_id and backups.created_at >= jobs.created_at)))
      and not exists (select 1 from backups where backups.job_id = jobs.id)`,
    `create index jobs_with_backup_to_record on jobs (backup_to_record, created_at)
      where backup_to_record = 1 and phase in ('done', 'unknown') and (started_at is not null
        or reason in ('rolled_back', 'timed_out', 'interrupted', 'router_rebooted') or (reason = 'script_error' and output is not null))`,
    'drop index jobs_with_backup',
  ];
}

export const backupsToRecord: Migration = { number: 65, name: 'backups to record', statements };
