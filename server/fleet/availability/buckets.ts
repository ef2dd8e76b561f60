import { LocalDays, mondayOf } from '../../platform/core/local-days.ts';
import type { BucketSize, Span } from './types.ts';

const HOUR_MS = 3_600_000;
const DAYS_OF = { day: 1, week: 7 } as const;
/** Without `from`: a day by the hour, four weeks by the day, a quarter of a year by the week. */
const USUAL = { hour: 24, day: 28, week: 13 } as const;

/**
 * The hours, days or weeks of a zone that overlap a range, oldest first. The first and the last are cut at the ends of the range.
 * An hour is always 3,600 s long, a day has as many as the zone gives it.
 * @returns undefined when there are more than `most`
 */
export function bucketsOf({ from, to }: Span, size: BucketSize, timeZone: string, most: number): Span[] | undefined {
  const spans: Span[] = [];
  let begin = from;
  for (const next of beginningsAfter(from, size, new LocalDays(timeZone))) {
    const end = Math.min(next, to);
    if (end > begin) spans.push({ from: begin, to: end });
    if (spans.length > most) return undefined;
    if (next >= to) return spans;
    begin = Math.max(begin, end);
  }
  return spans;
}

/** Default start of the range: this many whole buckets, including the present one. */
export function usualBeginning(to: number, size: BucketSize, timeZone: string): number {
  const days = new LocalDays(timeZone);
  if (size === 'hour') return startOfHour(to, days) - (USUAL.hour - 1) * HOUR_MS;
  return days.startOf(startDate(days.dateAt(to), size) - (USUAL[size] - 1) * DAYS_OF[size]);
}

function* beginningsAfter(from: number, size: BucketSize, days: LocalDays): Generator<number> {
  if (size === 'hour') {
    for (let at = startOfHour(from, days) + HOUR_MS; ; at += HOUR_MS) yield at;
  }
  for (let date = startDate(days.dateAt(from), size) + DAYS_OF[size]; ; date += DAYS_OF[size]) yield days.startOf(date);
}

/** Some zones have offsets of a half or a quarter of an hour. */
function startOfHour(at: number, days: LocalDays): number {
  const minutes = (at + days.offsetAt(at)) % HOUR_MS;
  return at - (minutes < 0 ? minutes + HOUR_MS : minutes);
}

function startDate(date: number, size: 'day' | 'week'): number {
  return size === 'week' ? mondayOf(date) : date;
}
