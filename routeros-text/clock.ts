import { isAtLeast } from './versions.ts';

/** Dates, times and offsets of a router's clock: `nov/20/2026` up to 7.9, `2026-11-20` from 7.10. Pure. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ISO_DATES_SINCE = '7.10';

/** A record of `/system/clock`: local time and its offset. */
export interface ClockRecord {
  date?: string | undefined;
  time?: string | undefined;
  'gmt-offset'?: string | undefined;
}

/**
 * The time that a router's clock shows, in milliseconds since 1970 UTC. Undefined when any part cannot be parsed: with an unknown
 * offset the time could be wrong by half a day, and nothing would show it.
 */
export function parseClock({ date, time, 'gmt-offset': offset }: ClockRecord): number | undefined {
  const day = parseDate(date ?? '');
  const seconds = parseTimeOfDay(time ?? '');
  const east = parseOffset(offset);
  if (day === undefined || seconds === undefined || east === undefined) return undefined;
  return day + (seconds - east) * 1000;
}

function parseDate(text: string): number | undefined {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return dayOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
  const named = /^([a-z]{3})\/(\d{2})\/(\d{4})$/i.exec(text);
  const month = MONTHS.indexOf(named?.[1]?.toLowerCase() ?? '');
  return named && month >= 0 ? dayOf(Number(named[3]), month, Number(named[2])) : undefined;
}

/** Undefined for impossible dates: `Date.UTC` would roll the 45th of a 13th month over into the next year. */
function dayOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month, day));
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

function parseTimeOfDay(text: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text);
  return match ? Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]) : undefined;
}

/** Seconds east of UTC. A router that shows no offset keeps UTC. */
function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  const match = /^([+-]?)(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  if (!match) return undefined;
  const size = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -size : size;
}

/** A date `1970-01-01` in the form that a router of that version accepts. */
export function dateFor(version: string, date: string): string {
  return isAtLeast(version, ISO_DATES_SINCE) ? date : withNamedMonth(date);
}

/** A date `1970-01-01` in the form of `shown`, a date that the same router has printed. */
export function dateLike(shown: string | undefined, date: string): string {
  return shown?.includes('/') ? withNamedMonth(date) : date;
}

function withNamedMonth(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  return `${MONTHS[Number(month) - 1] ?? ''}/${day}/${year}`;
}
