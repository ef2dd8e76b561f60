import { useState } from 'react';
import type { Schedule } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { GROUPS, useAll } from '../directory.ts';
import { scheduleWords } from '../week.ts';
import { listed, upper } from '../words.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { WeekGrid } from './week-grid.tsx';

type Asked = { kind: 'new' } | { kind: 'change' | 'remove'; schedule: Schedule };

/** Weekly times, in which groups speak or do not. */
export function SchedulesPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name="Schedules"
      note="Times of every week. A group speaks only in the times of its schedule, or except in them."
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
            Make a schedule
          </button>
        ) : undefined
      }
    >
      <Schedules onAsk={mayChange ? setAsked : undefined} />
      {asked?.kind === 'new' ? <ScheduleDialog onClose={close} /> : null}
      {asked?.kind === 'change' ? <ScheduleDialog schedule={asked.schedule} onClose={close} /> : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={`Remove the schedule ${asked.schedule.name}?`}
          action="Remove the schedule"
          operation="deleteSchedule"
          input={{ path: { schedule_id: asked.schedule.id } }}
          stale={['schedules', GROUPS]}
          onClose={close}
        >
          <p>Its groups then speak at any time.</p>
        </Confirm>
      ) : null}
    </NotificationsArea>
  );
}

/** @param onAsk given to those who may change schedules */
function Schedules({ onAsk }: { onAsk: ((asked: Asked) => void) | undefined }) {
  const { data: schedules, error } = useAll('schedules', 'listSchedules');
  const { data: groups, error: groupsError } = useAll(GROUPS, 'listGroups');
  if (schedules === undefined) return error ? <ReadingFailed error={error} what="Schedules" /> : <Reading />;
  if (schedules.length === 0) {
    return (
      <div className="empty">
        <Empty title="No schedule yet.">
          Office hours or the hours of a shift would be here. {onAsk ? 'Make one above.' : 'People with the role admin make schedules.'}
        </Empty>
      </div>
    );
  }
  return (
    <>
      {groups === undefined && groupsError ? <ReadingFailed error={groupsError} what="Which groups use them" /> : null}
      <ul className="schedules">
        {schedules.map((schedule) => (
          <li key={schedule.id}>
            <div>
              <h2>{schedule.name}</h2>
              <p>
                {upper(scheduleWords(schedule))}. <b>{schedule.active_now ? 'In force now.' : 'Not in force now.'}</b>
              </p>
              {groups === undefined ? null : <p className="t2">{usedBy(schedule, groups)}</p>}
            </div>
            <WeekGrid windows={schedule.windows} />
            {onAsk ? <Actions schedule={schedule} onAsk={onAsk} /> : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function usedBy({ id }: Schedule, groups: readonly { name: string; schedule_id: string | null }[]): string {
  const names = groups.filter(({ schedule_id: scheduleId }) => scheduleId === id).map(({ name }) => name);
  return names.length === 0 ? 'No group uses it.' : `Used by ${listed(names)}.`;
}

function Actions({ schedule, onAsk }: { schedule: Schedule; onAsk: (asked: Asked) => void }) {
  return (
    <div className="acts">
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'change', schedule })}>
        Change<span className="sr"> {schedule.name}</span>
      </button>
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'remove', schedule })}>
        Remove<span className="sr"> {schedule.name}</span>
      </button>
    </div>
  );
}
