import type { RecordFilter } from '../../../platform/core/list-page.ts';
import type { Status } from '../state.ts';
import type { JobRecord } from '../types.ts';

export interface JobFilter extends RecordFilter {
  statuses: readonly Status[];
  /** Where its router stood when the job was made; null: in no site. */
  siteId: string | null | undefined;
}

/** A job in a list of the whole team: without what may be long, and what only one job shows. */
export type JobOverview = Omit<
  JobRecord,
  'script' | 'output' | 'transitions' | 'guard_state' | 'guard_armed_at' | 'guard_fires_at' | 'backup_to_record'
>;
