import { formatsOf } from './formats.ts';
import { DAYS } from './types.ts';
import type { Day, Weekly, Window } from './types.ts';

const wallClockIn = formatsOf({ weekday: 'long', hour: 'numeric', minute: 'numeric' });

/** Local time of a time zone. */
interface WallClock {
  day: Day;
  /** Since midnight. */
  minute: number;
}

/** Whether one of the schedule's windows is open. @param now milliseconds since 1970 */
export function isActive(schedule: Weekly, now: number): boolean {
  const clock = wallClock(schedule.timeZone, now);
  return schedule.windows.some((window) => contains(window, clock));
}

function contains(window: Window, { day, minute }: WallClock): boolean {
  if (window.to > window.from) return day === window.day && minute >= window.from && minute < window.to;
  // Across midnight: the evening of its day, or the next morning.
  return (day === window.day && minute >= window.from) || (day === dayAfter(window.day) && minute < window.to);
}

function dayAfter(day: Day): Day {
  return DAYS[(DAYS.indexOf(day) + 1) % DAYS.length]!;
}

function wallClock(timeZone: string, now: number): WallClock {
  const parts = new Map(
    wallClockIn(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  return { day: parts.get('weekday')!.toLowerCase() as Day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) };
}
