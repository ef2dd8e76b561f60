import { useState } from 'react';
import type { Schedule, ScheduleChange } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedOfNewest } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { ZoneField } from '../../../parts/zone-field.tsx';
import { GROUPS } from '../directory.ts';
import { hoursOf, weekWords, windowsOf } from '../week.ts';
import type { Hours } from '../week.ts';
import { HoursFields } from './hours-fields.tsx';
import { WeekGrid } from './week-grid.tsx';
import { words } from './words.ts';

const OFFICE: Hours = { days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'], from: 480, to: 1080 };

/** Makes a schedule, or changes one. */
export function ScheduleDialog({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }) {
  const { api } = useFleet();
  const [name, setName] = useState(schedule?.name ?? '');
  const [zone, setZone] = useState(schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [hours, setHours] = useState<readonly Hours[]>(schedule ? hoursOf(schedule.windows) : [OFFICE]);
  const stale = ['schedules', GROUPS];
  const create = useWrite('createSchedule', stale);
  const change = useWrite('changeSchedule', stale);
  const { state } = schedule ? change : create;
  const windows = windowsOf(hours);
  const values = { name: name.trim(), time_zone: zone, windows };
  const [first] = useState(values);
  const changeOf = async (path: { schedule_id: string }) => ({
    path,
    body: await changedOfNewest<ScheduleChange>(first, values, async () => (await api.call('getSchedule', { path })).data),
  });
  const shared = {
    action: schedule ? words.dialog.save : words.dialog.make,
    fields: ['name', 'time_zone'],
    isReady: name.trim() !== '',
    onCancel: onClose,
    onDone: onClose,
  };
  const inputs = (
    <>
      <TextField
        label={words.dialog.name}
        name="name"
        hint={words.dialog.nameHint}
        value={name}
        onChange={setName}
        state={state}
        input={{ autoComplete: 'off' }}
      />
      <ZoneField label={words.dialog.zone} name="time_zone" value={zone} onChange={setZone} state={state} />
      <HoursFields hours={hours} onChange={setHours} />
      <p className="hint" role="status">
        {windows.length === 0 ? words.dialog.never : weekWords(windows)}
      </p>
      <WeekGrid windows={windows} />
    </>
  );
  return (
    <Dialog title={schedule ? words.dialog.change(schedule.name) : words.dialog.title} onClose={onClose}>
      {schedule ? (
        <WriteForm write={change} input={() => changeOf({ schedule_id: schedule.id })} {...shared}>
          {inputs}
        </WriteForm>
      ) : (
        <WriteForm write={create} input={() => ({ body: values })} {...shared}>
          {inputs}
        </WriteForm>
      )}
    </Dialog>
  );
}
