import type { RecordFilter } from '../../../platform/core/list-page.ts';

export interface TerminalFilter extends RecordFilter {
  status: 'open' | 'ended' | undefined;
  /** Id of a person or API key. */
  openedBy: string | undefined;
}
