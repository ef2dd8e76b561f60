import { SelectField } from '../../../parts/form.tsx';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { scheduleWords } from '../week.ts';
import type { PartProps } from './part-props.ts';

type Mute = NotificationGroup['mute'];

/** The interface's words are historic: `schedule-active` mutes outside of the schedule. */
const CHOICES: readonly { mute: Mute; words: string }[] = [
  { mute: 'never', words: 'At any time' },
  { mute: 'schedule-active', words: 'Only in the times of a schedule' },
  { mute: 'schedule-inactive', words: 'Except in the times of a schedule' },
  { mute: 'always', words: 'Not at all: muted until somebody ends it here' },
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
        <legend>Notifications are sent</legend>
        {CHOICES.map(({ mute: value, words }) => (
          <label key={value}>
            <input
              type="radio"
              name="mute"
              checked={mute === value}
              onChange={() => onChange({ ...draft, mute: value, schedule_id: scheduleId ?? schedules[0]?.id ?? null })}
            />
            {words}
          </label>
        ))}
      </fieldset>
      {isByWeek && schedules.length === 0 ? (
        <p className="hint c-away">The team has no schedule, so this changes nothing. Make one under Schedules.</p>
      ) : null}
      {isByWeek && schedules.length > 0 ? (
        <SelectField
          label="Schedule"
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
