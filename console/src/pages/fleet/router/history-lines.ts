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
export function historyLines(read: readonly HistoryItem[], oldest: number, isEarlier: boolean): HistoryLines {
  const records = read.filter(isToTell);
  const inTime = records.filter(({ at, until }) => until === null || Date.parse(until) >= oldest || Date.parse(at) >= oldest);
  const shown = isEarlier || inTime.length === 0 ? records : inTime;
  return { shown, older: records.length - shown.length };
}

/** Shorter ones would be told to last 0 s or 1 s. */
const LEAST_UNSEEN_MS = 1000;

/** A router is never seen in the moment before its agent tells of it: no news. */
function isToTell({ kind, status, at, until }: HistoryItem): boolean {
  return kind !== 'state' || status !== 'never_seen' || until === null || Date.parse(until) - Date.parse(at) >= LEAST_UNSEEN_MS;
}
