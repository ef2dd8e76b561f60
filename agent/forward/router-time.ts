const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A moment on the router's own wall clock, in the router's own spelling. */
export interface RouterMoment {
  date: string;
  time: string;
}

/**
 * Adds seconds to what `/system/clock/print` says. Dates are `nov/20/2026` up to 7.9 and `2026-11-20` after it; the
 * answer is spelled like the question. Undefined when it is neither.
 */
export function addSeconds(now: RouterMoment, seconds: number): RouterMoment | undefined {
  const old = /^([a-z]{3})\/(\d{2})\/(\d{4})$/i.exec(now.date);
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(now.date);
  const time = /^(\d{2}):(\d{2}):(\d{2})/.exec(now.time);
  if (!time || (!old && !iso)) return undefined;
  const [year, month, day] = old
    ? [Number(old[3]), MONTHS.indexOf(old[1]!.toLowerCase()), Number(old[2])]
    : [Number(iso![1]), Number(iso![2]) - 1, Number(iso![3])];
  if (month < 0 || month > 11) return undefined;
  const [hour, minute, second] = time.slice(1).map(Number) as [number, number, number];
  // Wall time without a zone: the router's own zone does not matter to a sum of a day at most.
  const at = new Date(Date.UTC(year, month, day, hour, minute, second) + seconds * 1000);
  const [isoDate, isoTime] = at.toISOString().split('T') as [string, string];
  const monthName = MONTHS[at.getUTCMonth()]!;
  const date = old ? `${monthName}/${pad(at.getUTCDate())}/${at.getUTCFullYear()}` : isoDate;
  return { date, time: isoTime.slice(0, 8) };
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
