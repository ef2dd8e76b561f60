import type { RouterRow } from '../routers/adapter.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * What a router takes for the present moment, as milliseconds since 1970 UTC, from `/system/clock`: `nov/20/2026` up to
 * 7.9, `2026-11-20` from 7.10, local time with its offset. Undefined when it cannot be read.
 */
export function parseRouterTime({ date, time, 'gmt-offset': offset }: RouterRow): number | undefined {
  const day = parseDate(date ?? '');
  const clock = /^(\d{2}):(\d{2}):(\d{2})$/.exec(time ?? '');
  const zone = parseOffset(offset);
  if (day === undefined || !clock || zone === undefined || Number(clock[1]) > 23 || Number(clock[2]) > 59) return undefined;
  const seconds = Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
  return day + (seconds - zone) * 1000;
}

function parseDate(text: string): number | undefined {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return dayOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
  const old = /^([a-z]{3})\/(\d{2})\/(\d{4})$/i.exec(text);
  const month = MONTHS.indexOf(old?.[1]?.toLowerCase() ?? '');
  return old && month >= 0 ? dayOf(Number(old[3]), month, Number(old[2])) : undefined;
}

/** Undefined for days that no calendar has: the 45th of a 13th month would otherwise be one in the next year. */
function dayOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month, day));
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** Seconds east of Greenwich; none given is Greenwich. */
function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  const match = /^([+-]?)(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (!match) return undefined;
  const size = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -size : size;
}
