import { useState } from 'react';
import { CLOCK_TEXT } from '../clock-text.ts';
import { WEEK, clockOf, endOf, minuteOf } from '../week.ts';
import type { Day, Hours } from '../week.ts';
import { words } from './words.ts';

const MINUTES_OF_DAY = 1440;

interface Props {
  hours: readonly Hours[];
  onChange: (hours: readonly Hours[]) => void;
}

/** Days of the week and the hours on them, any number of lines. */
export function HoursFields({ hours, onChange }: Props) {
  const change = (index: number, changed: Partial<Hours>): void =>
    onChange(hours.map((one, place) => (place === index ? { ...one, ...changed } : one)));
  return (
    <fieldset className="check-list">
      <legend>{words.hours.title}</legend>
      <div className="form-lines">
        {hours.map((one, index) => (
          <div className="form-line" key={index} role="group" aria-label={words.hours.line(index + 1)}>
            <Days days={one.days} onChange={(days) => change(index, { days })} />
            <Clock label={words.hours.from} minute={one.from} onChange={(from) => change(index, { from })} />
            <Clock label={words.hours.to} minute={one.to % MINUTES_OF_DAY} onChange={(to) => change(index, { to: endOf(to) })} />
            {one.to <= one.from ? <span className="hint">{words.hours.nextDay}</span> : null}
            <span className="sp" />
            <button type="button" className="btn quiet sm" onClick={() => onChange(hours.filter((_one, place) => place !== index))}>
              {words.hours.takeOut}
              <span className="sr"> {words.hours.which(index + 1)}</span>
            </button>
          </div>
        ))}
      </div>
      <button type="button" className="btn" onClick={() => onChange([...hours, { days: ['saturday'], from: 540, to: 720 }])}>
        {words.hours.add}
      </button>
    </fieldset>
  );
}

function Days({ days, onChange }: { days: readonly Day[]; onChange: (days: readonly Day[]) => void }) {
  return (
    <div className="days">
      {WEEK.map((day) => (
        <label key={day}>
          <input
            type="checkbox"
            aria-label={words.day[day]}
            checked={days.includes(day)}
            onChange={({ target }) => onChange(WEEK.filter((each) => (each === day ? target.checked : days.includes(each))))}
          />
          <span aria-hidden="true">{words.shortDay[day]}</span>
        </label>
      ))}
    </div>
  );
}

function Clock({ label, minute, onChange }: { label: string; minute: number; onChange: (minute: number) => void }) {
  const [text, setText] = useState(clockOf(minute));
  // Another line may have taken this one's place.
  const typed = minuteOf(text);
  return (
    <label>
      {label}{' '}
      <input
        type="text"
        {...CLOCK_TEXT}
        className="control"
        required
        value={typed === undefined || typed === minute ? text : clockOf(minute)}
        onChange={({ target }) => {
          setText(target.value);
          const changed = minuteOf(target.value);
          if (changed !== undefined) onChange(changed);
        }}
      />
    </label>
  );
}
