import { useState } from 'react';
import type { Schedule } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { GROUPS, useAll } from '../directory.ts';
import { scheduleWords } from '../week.ts';
import { listed, upper, words as areaWords } from '../words.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { WeekGrid } from './week-grid.tsx';
import { words } from './words.ts';

type Asked = { kind: 'new' } | { kind: 'change' | 'remove'; schedule: Schedule };

/** Weekly times, in which groups speak or do not. */
export function SchedulesPage() {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <NotificationsArea
      name={areaWords.part.schedules}
      note={words.note}
      actions={
        mayChange ? (
          <button type="button" className="btn main-act" onClick={() => setAsked({ kind: 'new' })}>
            {words.make}
          </button>
        ) : undefined
      }
    >
      <Schedules onAsk={mayChange ? setAsked : undefined} />
      {asked?.kind === 'new' ? <ScheduleDialog onClose={close} /> : null}
      {asked?.kind === 'change' ? <ScheduleDialog schedule={asked.schedule} onClose={close} /> : null}
      {asked?.kind === 'remove' ? (
        <Confirm
          title={words.remove.title(asked.schedule.name)}
          action={words.remove.act}
          operation="deleteSchedule"
          input={{ path: { schedule_id: asked.schedule.id } }}
          stale={['schedules', GROUPS]}
          onClose={close}
        >
          <p>{words.remove.about}</p>
        </Confirm>
      ) : null}
    </NotificationsArea>
  );
}

/** @param onAsk given to those who may change schedules */
function Schedules({ onAsk }: { onAsk: ((asked: Asked) => void) | undefined }) {
  const { data: schedules, error } = useAll('schedules', 'listSchedules');
  const { data: groups, error: groupsError } = useAll(GROUPS, 'listGroups');
  if (schedules === undefined) return error ? <ReadingFailed error={error} what={words.what} /> : <Reading />;
  if (schedules.length === 0) {
    return (
      <div className="empty">
        <Empty title={words.empty.title}>
          {words.empty.text} {onAsk ? words.empty.make : words.empty.ask}
        </Empty>
      </div>
    );
  }
  return (
    <>
      {groups === undefined && groupsError ? <ReadingFailed error={groupsError} what={words.usage} /> : null}
      <ul className="schedules">
        {schedules.map((schedule) => (
          <li key={schedule.id}>
            <div>
              <h2>{schedule.name}</h2>
              <p>
                {upper(scheduleWords(schedule))}. <b>{schedule.active_now ? words.inForce : words.notInForce}</b>
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
  return names.length === 0 ? words.unused : words.used(listed(names));
}

function Actions({ schedule, onAsk }: { schedule: Schedule; onAsk: (asked: Asked) => void }) {
  return (
    <div className="acts">
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'change', schedule })}>
        {words.act.change}
        <span className="sr"> {schedule.name}</span>
      </button>
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'remove', schedule })}>
        {words.act.remove}
        <span className="sr"> {schedule.name}</span>
      </button>
    </div>
  );
}
