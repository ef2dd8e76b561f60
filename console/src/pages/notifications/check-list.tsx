import { useState } from 'react';
import { words } from './words.ts';

interface Option {
  id: string;
  name: React.ReactNode;
  /** What it is, beside its name. */
  hint?: React.ReactNode;
  /** What is looked for in the filter; without it, options are not filtered. */
  text?: string;
}

interface Props {
  legend: string;
  options: readonly Option[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  /** Said instead of options. */
  empty: React.ReactNode;
}

/** From so many options on, there is a filter. */
const MANY = 12;

/** Any number of a list of records. */
export function CheckList({ legend, options, chosen, onChange, empty }: Props) {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const shown = options.filter(({ text = '' }) => text.toLowerCase().includes(wanted));
  const toggle = (id: string, isOn: boolean): void => onChange(isOn ? [...chosen, id] : chosen.filter((one) => one !== id));
  return (
    <fieldset className="check-list">
      <legend>{legend}</legend>
      {options.length === 0 ? <p className="hint">{empty}</p> : null}
      {options.length > MANY ? (
        <label className="fbox">
          <span className="sr">{words.checkList.filter}</span>
          <input type="search" value={filter} placeholder={words.checkList.name} onChange={({ target }) => setFilter(target.value)} />
          <span className="t2 faint">{words.checkList.chosen(chosen.length)}</span>
        </label>
      ) : null}
      <div className="check-rows">
        {shown.map(({ id, name, hint }) => (
          <label key={id}>
            <input type="checkbox" checked={chosen.includes(id)} onChange={({ target }) => toggle(id, target.checked)} />
            <span>
              {name} {hint === undefined ? null : <span className="hint">{hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
