import type { RecordFilter } from '../../../platform/core/list-page.ts';
import type { BackupState } from '../types.ts';

export interface BackupFilter extends RecordFilter {
  states: readonly BackupState[];
}
