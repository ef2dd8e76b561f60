import { SORTS, covers } from './kinds.ts';
import { words } from './words.ts';

interface KindsFieldProps {
  events: readonly string[];
  onChange: (events: readonly string[]) => void;
}

/** Every kind that this page knows, sort by sort. */
export function KindsField({ events, onChange }: KindsFieldProps) {
  const toggle = (event: string, isOn: boolean): void => onChange(isOn ? [...events, event] : events.filter((one) => !covers(one, event)));
  return (
    <div className="kinds">
      {SORTS.map(({ name, all, kinds }) => (
        <fieldset key={all} className="check-list">
          <legend>{name}</legend>
          <div className="check-rows">
            {kinds.length > 1 ? (
              <label>
                <input
                  type="checkbox"
                  checked={events.includes(all)}
                  onChange={({ target }) => {
                    const rest = events.filter((one) => !covers(all, one));
                    onChange(target.checked ? [...rest, all] : rest);
                  }}
                />
                <span>{words.allOfSort}</span>
              </label>
            ) : null}
            {kinds.map(({ kind, words: said }) => (
              <label key={kind}>
                <input
                  type="checkbox"
                  checked={events.some((event) => covers(event, kind))}
                  disabled={kinds.length > 1 && events.includes(all)}
                  onChange={({ target }) => toggle(kind, target.checked)}
                />
                <span>{said}</span>
              </label>
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}
