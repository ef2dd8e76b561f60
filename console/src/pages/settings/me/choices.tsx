import { useState, useSyncExternalStore } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import type { Chosen } from '../../../data/preferences.ts';
import { onThemeChange, themeChoice } from '../../../look/theme.ts';
import type { ThemeChoice } from '../../../look/theme.ts';
import { sentenceOf } from '../../../parts/reading.tsx';
import { zonesWith } from '../../../parts/zone-field.tsx';

const THEMES: readonly { value: ThemeChoice; name: string }[] = [
  { value: 'system', name: 'As the system says' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
];

/** What the person has chosen for themselves, kept for every browser. */
export function Choices() {
  const { preferences } = useFleet();
  const { timeZone = '' } = useSyncExternalStore(preferences.subscribe, () => preferences.chosen);
  const theme = useSyncExternalStore(onThemeChange, themeChoice);
  const [error, setError] = useState<Error>();
  const choose = (change: Chosen): void => {
    setError(undefined);
    preferences.choose(change).catch((reason: unknown) => setError(reason instanceof Error ? reason : new Error(String(reason))));
  };
  return (
    <>
      <fieldset className="themes">
        <legend className="sr">Theme</legend>
        {THEMES.map(({ value, name }) => (
          <label key={value}>
            <input type="radio" name="theme" value={value} checked={theme === value} onChange={() => choose({ theme: value })} /> {name}
          </label>
        ))}
      </fieldset>
      <label className="zone">
        <span>Times in the zone</span>
        <select
          className="control"
          value={timeZone}
          onChange={({ target }) => choose({ timeZone: target.value === '' ? undefined : target.value })}
        >
          <option value="">of this browser ({Intl.DateTimeFormat().resolvedOptions().timeZone})</option>
          {zonesWith(timeZone).map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </label>
      <p className="hint" role="status">
        {error === undefined ? 'Kept for you in every browser, for this team.' : `Not kept: ${sentenceOf(error)}`}
      </p>
    </>
  );
}
