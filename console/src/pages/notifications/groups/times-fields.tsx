import { SelectField } from '../../../parts/form.tsx';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { scheduleWords } from '../week.ts';
import type { PartProps } from './part-props.ts';
import { words } from './words.ts';

type Mute = NotificationGroup['mute'];

/** The interface's words are historic: `schedule-active` mutes outside of the schedule. */
const CHOICES: readonly { mute: Mute; said: string }[] = [
  { mute: 'never', said: words.mute.never },
  { mute: 'schedule-active', said: words.mute.only },
  { mute: 'schedule-inactive', said: words.mute.except },
  { mute: 'always', said: words.mute.always },
];

/** When the group speaks. */
export function TimesFields({ group, names, draft, onChange, state }: PartProps) {
  const { mute = group.mute, schedule_id: scheduleId = group.schedule_id } = draft;
  const schedules = [...names.schedules.values()];
  const isByWeek = mute === 'schedule-active' || mute === 'schedule-inactive';
  const chosen = scheduleId === null ? undefined : names.schedules.get(scheduleId);
  return (
    <>
      <fieldset className="radios">
        <legend>{words.mute.title}</legend>
        {CHOICES.map(({ mute: value, said }) => (
          <label key={value}>
            <input
              type="radio"
              name="mute"
              checked={mute === value}
              onChange={() => onChange({ ...draft, mute: value, schedule_id: scheduleId ?? schedules[0]?.id ?? null })}
            />
            {said}
          </label>
        ))}
      </fieldset>
      {isByWeek && schedules.length === 0 ? <p className="hint c-away">{words.mute.noSchedule}</p> : null}
      {isByWeek && schedules.length > 0 ? (
        <SelectField
          label={words.mute.schedule}
          name="schedule_id"
          value={scheduleId ?? ''}
          onChange={(id) => onChange({ ...draft, mute, schedule_id: id })}
          options={schedules.map(({ id, name }) => ({ value: id, name }))}
          hint={chosen ? scheduleWords(chosen) : undefined}
          state={state}
        />
      ) : null}
    </>
  );
}
