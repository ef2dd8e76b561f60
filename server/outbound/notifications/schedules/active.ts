import { DAYS } from './types.ts';
import type { Day, Weekly, Window } from './types.ts';

/** What a clock on the wall shows. */
interface WallClock {
  day: Day;
  /** Since midnight. */
  minute: number;
}

/** Is one of the schedule's windows open at this moment? @param now milliseconds since 1970 */
export function isActive(schedule: Weekly, now: number): boolean {
  const clock = wallClock(schedule.timeZone, now);
  return schedule.windows.some((window) => contains(window, clock));
}

function contains(window: Window, { day, minute }: WallClock): boolean {
  if (window.to > window.from) return day === window.day && minute >= window.from && minute < window.to;
  // Over midnight: the evening of its day, or the morning after.
  return (day === window.day && minute >= window.from) || (day === dayAfter(window.day) && minute < window.to);
}

function dayAfter(day: Day): Day {
  return DAYS[(DAYS.indexOf(day) + 1) % DAYS.length]!;
}

function wallClock(timeZone: string, now: number): WallClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'long', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  return { day: parts.get('weekday')!.toLowerCase() as Day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) };
}
