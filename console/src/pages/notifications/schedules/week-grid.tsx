import type { ScheduleWindow } from '../../../../../client/browser.ts';
import { WEEK, coverOf } from '../week.ts';
import { words } from './words.ts';

const DAY_MINUTES = 1440;

/** The hours of a week as bars. What they say stands beside them in words. */
export function WeekGrid({ windows }: { windows: readonly ScheduleWindow[] }) {
  return (
    <div className="week" aria-hidden="true">
      {WEEK.map((day) => (
        <WeekDay key={day} name={words.shortDay[day]} cover={coverOf(windows, day)} />
      ))}
      <span className="week-axis">
        <span>00</span>
        <span>06</span>
        <span>12</span>
        <span>18</span>
        <span>24</span>
      </span>
    </div>
  );
}

function WeekDay({ name, cover }: { name: string; cover: readonly { from: number; to: number }[] }) {
  return (
    <>
      <b>{name}</b>
      <i>
        {cover.map(({ from, to }) => (
          <u key={from} style={{ left: percent(from), width: percent(to - from) }} />
        ))}
      </i>
    </>
  );
}

function percent(minutes: number): string {
  return `${((minutes / DAY_MINUTES) * 100).toFixed(3)}%`;
}
