import type { RouterRow } from './adapter.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `2026-11-20` (from 7.10) or `nov/20/2026`. */
function parseDate(text: string): [year: number, month: number, day: number] | undefined {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return [Number(iso[1]), Number(iso[2]) - 1, Number(iso[3])];
  const named = /^([a-z]{3})\/(\d{2})\/(\d{4})$/i.exec(text);
  const month = named ? MONTHS.indexOf(named[1]!.toLowerCase()) : -1;
  return named && month >= 0 ? [Number(named[3]), month, Number(named[2])] : undefined;
}

/** `+01:00` in milliseconds; 0 for anything else, which is right for a router that knows no zone. */
function parseOffset(text: string | undefined): number {
  const match = /^([+-])(\d{2}):(\d{2})$/.exec(text ?? '');
  if (!match) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}

/**
 * The moment that `/system/clock/print` shows, in milliseconds since 1970: the router prints local time and its
 * offset. @returns undefined if it cannot be read
 */
export function parseRouterClock({ date = '', time = '', 'gmt-offset': offset }: RouterRow): number | undefined {
  const day = parseDate(date);
  const clock = /^(\d{2}):(\d{2}):(\d{2})$/.exec(time);
  if (!day || !clock) return undefined;
  return Date.UTC(...day, Number(clock[1]), Number(clock[2]), Number(clock[3])) - parseOffset(offset);
}
