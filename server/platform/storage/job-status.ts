/**
 * The public status of a row of `jobs`, in SQL: the same decisions as `statusOf` in server/work/jobs/state.ts. It is written out in an index
 * (migration 29), and only a statement with exactly these words uses that index.
 */
export const JOB_STATUS_SQL = `(case
  when deleted_at is not null or phase = 'canceled' then 'deleted'
  when phase = 'expired' then 'expired'
  when phase = 'queued' then 'pending'
  when phase = 'accepted' and completed_at is null then 'pending'
  when phase = 'running' and completed_at is null then 'running'
  when phase = 'unknown' and completed_at is null then 'unknown'
  when phase = 'done' and failed_at is not null then 'failed'
  else 'completed' end)`;
