/** Kept: making one of these for each row costs half a millisecond a frame. */
const hourMinute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekdayDay = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const dayMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dayMonthYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const toTheSecond = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const dayToTheSecond = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

const DAY_MS = 86_400_000;

/** As short as it can be without a doubt, before or after now: `03:12`, `Tue 03:12`, `3 Nov`, `3 Nov 2025`. */
export function shortTime(at: string | null, now = Date.now()): string {
  if (at === null) return '';
  const time = Date.parse(at);
  const age = Math.abs(now - time);
  if (age < DAY_MS) return hourMinute.format(time);
  if (age < 6 * DAY_MS) return weekday.format(time);
  return age < 300 * DAY_MS ? dayMonth.format(time) : dayMonthYear.format(time);
}

/** The time of day alone, for an axis or a reason that stands at one: `03:12`. */
export function clockTime(at: number): string {
  return hourMinute.format(at);
}

/** For midnight on an axis: `Thu 6 Nov`. */
export function dayName(at: number): string {
  return weekdayDay.format(at);
}

/** To the second, with the zone; for the title of a short one. */
export function exactTime(at: string | null): string {
  return at === null ? '' : exact.format(Date.parse(at));
}

/** `12 s`, `4 min`, `2 h 05`, `3 d`. */
export function lengthOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${String(minutes % 60).padStart(2, '0')}` : `${Math.floor(hours / 24)} d`;
}

/** `03:12:46`, with its day when that is not the last one. @param at milliseconds since 1970 */
export function secondsTime(at: number, now = Date.now()): string {
  return (now - at < DAY_MS ? toTheSecond : dayToTheSecond).format(at);
}

/** Minutes and seconds that are left: `2:34`, `1:02:34`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${hours > 0 ? two(Math.floor((seconds % 3600) / 60)) : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
