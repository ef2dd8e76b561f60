import type { RecordFilter } from '../../../platform/core/list-page.ts';

export interface ForwardFilter extends RecordFilter {
  /** `closed`: expired or revoked. */
  status: 'open' | 'closed' | undefined;
}
