import type { NotificationGroup } from '../../../../../client/browser.ts';
import type { Names } from '../sentence.ts';
import { WeekGrid } from '../schedules/week-grid.tsx';
import { scheduleWords } from '../week.ts';

/** When a group speaks. */
export function Times({ group: { mute, schedule_id: id }, names }: { group: NotificationGroup; names: Names }) {
  const schedule = id === null ? undefined : names.schedules.get(id);
  if (mute === 'always') return <p className="prose-block">Muted until an administrator ends that. {AFTERWARDS}</p>;
  if (mute === 'never' || schedule === undefined) return <p className="empty">At any time.</p>;
  return (
    <>
      <p className="prose-block">
        {mute === 'schedule-active' ? 'Only in the times of ' : 'Except in the times of '}
        <b>{schedule.name}</b>: {scheduleWords(schedule)}. {AFTERWARDS}
      </p>
      <WeekGrid windows={schedule.windows} />
    </>
  );
}

const AFTERWARDS = 'What opens while the group is muted is told afterwards, if it is still open then.';
