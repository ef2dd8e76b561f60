import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** The undo guard of a campaign's jobs, what became of them in one place, and the way from a job to its campaign. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    'alter table campaigns add column undo_seconds integer',
    // JSON. A list of a thousand campaigns would otherwise count ten million targets.
    `alter table campaigns add column final_counts ${text}`,
    // A job that is forgotten must be struck off its campaign, and the database looks for that at every deletion.
    'create index campaign_targets_by_job on campaign_targets (job_id)',
  ];
}

export const campaignJobs: Migration = { number: 7, name: 'campaign-jobs', statements };
