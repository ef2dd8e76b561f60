import type { HistoryItem } from '../../../../../client/browser.ts';

/** What a history shows of what was read. */
export interface HistoryLines {
  shown: readonly HistoryItem[];
  /** Lines that were read and are older than the time shown. */
  older: number;
}

/**
 * The lines of the time that is shown, or, where nothing happened in it, all that were read.
 * @param oldest begin of that time, milliseconds since 1970
 * @param isEarlier somebody has asked for earlier lines: nothing that was read is left out
 */
export function historyLines(records: readonly HistoryItem[], oldest: number, isEarlier: boolean): HistoryLines {
  const inTime = records.filter(({ at, until }) => until === null || Date.parse(until) >= oldest || Date.parse(at) >= oldest);
  const shown = isEarlier || inTime.length === 0 ? records : inTime;
  return { shown, older: records.length - shown.length };
}
