import { WEEK, clockOf, endOf, minuteOf } from '../week.ts';
import type { Day, Hours } from '../week.ts';

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
      <legend>Times</legend>
      <div className="form-lines">
        {hours.map((one, index) => (
          <div className="form-line" key={index} role="group" aria-label={`Times ${index + 1}`}>
            <Days days={one.days} onChange={(days) => change(index, { days })} />
            <Clock label="From" minute={one.from} onChange={(from) => change(index, { from })} />
            <Clock label="to" minute={one.to % MINUTES_OF_DAY} onChange={(to) => change(index, { to: endOf(to) })} />
            {one.to <= one.from ? <span className="hint">the next day</span> : null}
            <span className="sp" />
            <button type="button" className="btn quiet sm" onClick={() => onChange(hours.filter((_one, place) => place !== index))}>
              Take out<span className="sr"> times {index + 1}</span>
            </button>
          </div>
        ))}
      </div>
      <button type="button" className="btn" onClick={() => onChange([...hours, { days: ['saturday'], from: 540, to: 720 }])}>
        Add times
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
            aria-label={day}
            checked={days.includes(day)}
            onChange={({ target }) => onChange(WEEK.filter((each) => (each === day ? target.checked : days.includes(each))))}
          />
          <span aria-hidden="true">{`${day[0]!.toUpperCase()}${day[1]}`}</span>
        </label>
      ))}
    </div>
  );
}

function Clock({ label, minute, onChange }: { label: string; minute: number; onChange: (minute: number) => void }) {
  return (
    <label>
      {label}{' '}
      <input
        type="time"
        className="control"
        required
        value={clockOf(minute)}
        onChange={({ target }) => {
          const typed = minuteOf(target.value);
          if (typed !== undefined) onChange(typed);
        }}
      />
    </label>
  );
}
