import { serverNow } from '../data/server-clock.ts';

/** Kept: making one of these for each row costs half a millisecond a frame. @throws RangeError for a zone that does not exist */
function formatsIn(timeZone: string | undefined) {
  const short = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const of = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, { ...options, timeZone });
  return {
    hourMinute: of(short),
    weekday: of({ weekday: 'short', ...short }),
    weekdayDay: of({ weekday: 'short', day: 'numeric', month: 'short' }),
    dayMonth: of({ day: 'numeric', month: 'short' }),
    dayMonthYear: of({ day: 'numeric', month: 'short', year: 'numeric' }),
    exact: of({ dateStyle: 'full', timeStyle: 'long' }),
    toTheSecond: of({ ...short, second: '2-digit' }),
    dayToTheMinute: of({ day: 'numeric', month: 'short', ...short }),
    dayToTheSecond: of({ day: 'numeric', month: 'short', ...short, second: '2-digit' }),
    wall: new Intl.DateTimeFormat('en', { ...short, second: '2-digit', year: 'numeric', month: 'numeric', day: 'numeric', timeZone }),
  };
}

let formats = formatsIn(undefined);

/** Whether this browser knows the zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatsIn(name);
    return true;
  } catch {
    return false;
  }
}

/** From now on, times are those of this zone. @param name IANA name; undefined: the zone of the browser */
export function showTimesIn(name: string | undefined): void {
  formats = formatsIn(name);
}

/** How far the shown time is ahead of UTC at this moment, milliseconds. */
export function offsetAt(at: number): number {
  const part = Object.fromEntries(formats.wall.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const wall = Date.UTC(part['year']!, part['month']! - 1, part['day'], part['hour'], part['minute'], part['second']);
  return wall - Math.floor(at / 1000) * 1000;
}

const DAY_MS = 86_400_000;

/**
 * When a day begins in the zone of the shown times, milliseconds since 1970; NaN for a day that no calendar has.
 * @param day `2031-05-01`
 * @param later days after it
 */
export function beginOfDay(day: string, later = 0): number {
  const [year = NaN, month = NaN, date = NaN] = day.split('-').map(Number);
  const wall = Date.UTC(year, month - 1, date + later);
  if (Number.isNaN(wall)) return NaN;
  // Where clocks change at midnight, that time of day comes twice or not at all: the first moment that the zone counts to the day.
  const offsets = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)];
  const moments = [wall - Math.max(...offsets), wall - Math.min(...offsets)];
  return moments.find((at) => at + offsetAt(at) >= wall) ?? moments[1]!;
}

/** Name of the zone in which times are shown. */
export function shownZone(): string {
  return formats.hourMinute.resolvedOptions().timeZone;
}

/** Kept, as those of the shown zone are. A fleet has a few zones. */
const walls = new Map<string, Intl.DateTimeFormat>();

function wallIn(timeZone: string): Intl.DateTimeFormat {
  const known = walls.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en', { dateStyle: 'short', timeStyle: 'short', timeZone });
  walls.set(timeZone, made);
  return made;
}

/** Whether clocks of this zone show another time than the page does. A zone that this browser does not know is another one. */
export function isOtherTime(zone: string, at: string): boolean {
  const time = Date.parse(at);
  return !isTimeZone(zone) || wallIn(zone).format(time) !== wallIn(shownZone()).format(time);
}

/** `Madrid` of `Europe/Madrid`, as messages say it. */
export function cityOf(zone: string): string {
  return zone.split('/').at(-1)!.replaceAll('_', ' ');
}

/** For the interface, where texts hold times: the same zone. Without it, they hold those of the site. */
export function zoneOfTexts(): { time_zone?: string } {
  const zone = shownZone();
  // A system without a zone has a name or an offset that is none.
  return /^[A-Za-z]/.test(zone) && isTimeZone(zone) ? { time_zone: zone } : {};
}

/** As short as it can be without a doubt, before or after now: `03:12`, `Tue 03:12`, `3 Nov`, `3 Nov 2025`. */
export function shortTime(at: string | null, now = serverNow()): string {
  if (at === null) return '';
  const time = Date.parse(at);
  const age = Math.abs(now - time);
  if (age < DAY_MS) return formats.hourMinute.format(time);
  if (age < 6 * DAY_MS) return formats.weekday.format(time);
  return age < 300 * DAY_MS ? formats.dayMonth.format(time) : formats.dayMonthYear.format(time);
}

/** The short times that more than one of these moments has: in a list, such moments are told apart to the second only. */
export function sharedTimes(moments: readonly string[], now = serverNow()): ReadonlySet<string> {
  const byTime = Map.groupBy(moments, (at) => shortTime(at, now));
  return new Set([...byTime].filter(([, sharing]) => sharing.length > 1).map(([time]) => time));
}

/** As short as it can be among others. @param shared of {@link sharedTimes} */
export function timeAmong(shared: ReadonlySet<string>, at: string, now = serverNow()): string {
  const short = shortTime(at, now);
  return shared.has(short) ? secondsTime(Date.parse(at), now) : short;
}

/** With its day, however near: `Sun 01:39`. For an end in the days to come. */
export function weekdayTime(at: string): string {
  return formats.weekday.format(Date.parse(at));
}

/** With its time of day, however far: `03:12`, `Tue 03:12`, `5 Dec, 03:12`. For a moment that is waited for. */
export function dueTime(at: string, now = serverNow()): string {
  const short = shortTime(at, now);
  return short.includes(':') ? short : formats.dayToTheMinute.format(Date.parse(at));
}

/** The time of day alone, for an axis or a reason that stands at one: `03:12`. */
export function clockTime(at: number): string {
  return formats.hourMinute.format(at);
}

/** For midnight on an axis: `Thu 6 Nov`. */
export function dayName(at: number): string {
  return formats.weekdayDay.format(at);
}

/** To the second, with the zone; for the title of a short one. */
export function exactTime(at: string | null): string {
  return at === null ? '' : formats.exact.format(Date.parse(at));
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
export function secondsTime(at: number, now = serverNow()): string {
  return (now - at < DAY_MS ? formats.toTheSecond : formats.dayToTheSecond).format(at);
}

/** Minutes and seconds that are left: `2:34`, `1:02:34`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${hours > 0 ? two(Math.floor((seconds % 3600) / 60)) : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
