import type { NotificationGroup } from '../../../../../client/browser.ts';
import { fill } from '../../../parts/fill.tsx';
import type { Names } from '../sentence.ts';
import { WeekGrid } from '../schedules/week-grid.tsx';
import { scheduleWords } from '../week.ts';
import { words } from './words.ts';

/** When a group speaks. */
export function Times({ group: { mute, schedule_id: id }, names }: { group: NotificationGroup; names: Names }) {
  const schedule = id === null ? undefined : names.schedules.get(id);
  if (mute === 'always')
    return (
      <p className="prose-block">
        {words.times.muted} {words.times.afterwards}
      </p>
    );
  if (mute === 'never' || schedule === undefined) return <p className="empty">{words.times.always}</p>;
  return (
    <>
      <p className="prose-block">
        {fill(mute === 'schedule-active' ? words.times.only : words.times.except, {
          schedule: <b>{schedule.name}</b>,
          times: scheduleWords(schedule),
        })}{' '}
        {words.times.afterwards}
      </p>
      <WeekGrid windows={schedule.windows} />
    </>
  );
}
