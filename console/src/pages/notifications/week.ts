import type { Schedule, ScheduleWindow } from '../../../../client/browser.ts';

export type Day = ScheduleWindow['day'];

/** A week as people read it: it begins on Monday. */
export const WEEK: readonly Day[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const MINUTES_OF_DAY = 1440;

/** The same hours on some days. */
export interface Hours {
  days: readonly Day[];
  /** Minutes since midnight. */
  from: number;
  /** Minutes since midnight, 1440 at most; on the next day if not after `from`. */
  to: number;
}

/** Windows with the same hours belong together, in the order of the week. */
export function hoursOf(windows: readonly ScheduleWindow[]): Hours[] {
  const found = new Map<string, { days: Day[]; from: number; to: number }>();
  const inOrder = [...windows].sort((one, other) => WEEK.indexOf(one.day) - WEEK.indexOf(other.day) || one.from - other.from);
  for (const { day, from, to } of inOrder) {
    const key = `${from} ${to}`;
    const hours = found.get(key) ?? { days: [], from, to };
    if (!hours.days.includes(day)) hours.days.push(day);
    found.set(key, hours);
  }
  return [...found.values()];
}

export function windowsOf(hours: readonly Hours[]): ScheduleWindow[] {
  return hours.flatMap(({ days, from, to }) => days.map((day) => ({ day, from, to })));
}

/** `Mondays to Fridays 08:00–18:00, Saturdays 09:00–12:00`; `never` without a window. */
export function weekWords(windows: readonly ScheduleWindow[]): string {
  const hours = hoursOf(windows);
  if (hours.length === 0) return 'never';
  const byDays = Map.groupBy(hours, ({ days }) => days.join(' '));
  return [...byDays.values()].map((same) => `${daysWords(same[0]!.days)} ${same.map(hoursWords).join(' and ')}`).join(', ');
}

/** With its time zone, without which the hours say little. */
export function scheduleWords({ windows, time_zone: zone }: Pick<Schedule, 'windows' | 'time_zone'>): string {
  return windows.length === 0 ? 'never' : `${weekWords(windows)} (${zone})`;
}

/** Minutes since midnight as `08:00`. */
export function clockOf(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/** Of a field for a time of day; undefined for what is none. */
export function minuteOf(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/** The end of a window as it is stored: midnight is that of the next day. */
export function endOf(minute: number): number {
  return minute === 0 ? MINUTES_OF_DAY : minute;
}

/** What a window covers of each day, in minutes: one across midnight covers two. */
export function coverOf(windows: readonly ScheduleWindow[], day: Day): { from: number; to: number }[] {
  const before = WEEK[(WEEK.indexOf(day) + WEEK.length - 1) % WEEK.length]!;
  return windows.flatMap((window) => {
    const isOver = window.to <= window.from;
    if (window.day === day) return [{ from: window.from, to: isOver ? MINUTES_OF_DAY : window.to }];
    return isOver && window.day === before ? [{ from: 0, to: window.to }] : [];
  });
}

function hoursWords({ from, to }: Hours): string {
  if (from === 0 && to === MINUTES_OF_DAY) return 'all day';
  return `${clockOf(from)}–${clockOf(to)}${to <= from ? ' the next day' : ''}`;
}

function daysWords(days: readonly Day[]): string {
  if (days.length === WEEK.length) return 'every day';
  const names = runsOf(days).flatMap(([first, last]) => {
    const length = WEEK.indexOf(last) - WEEK.indexOf(first) + 1;
    if (length > 2) return [`${named(first)} to ${named(last)}`];
    return length === 2 ? [named(first), named(last)] : [named(first)];
  });
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

function named(day: Day): string {
  return `${day[0]!.toUpperCase()}${day.slice(1)}s`;
}

/** First and last day of each run of neighbours. */
function runsOf(days: readonly Day[]): [Day, Day][] {
  const runs: [Day, Day][] = [];
  for (const day of WEEK.filter((each) => days.includes(each))) {
    const last = runs.at(-1);
    if (last && WEEK.indexOf(last[1]) + 1 === WEEK.indexOf(day)) last[1] = day;
    else runs.push([day, day]);
  }
  return runs;
}
