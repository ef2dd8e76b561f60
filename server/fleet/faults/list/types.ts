import type { Among, RecordFilter } from '../../../platform/core/list-page.ts';

export interface FaultFilter extends RecordFilter {
  status: 'open' | 'resolved' | undefined;
  severities: Among;
  types: Among;
}
