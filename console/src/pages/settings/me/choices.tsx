import { useState, useSyncExternalStore } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import type { Chosen } from '../../../data/preferences.ts';
import { useViews } from '../../../data/use-views.ts';
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
  const { timeZone = '', routersView = '' } = useSyncExternalStore(preferences.subscribe, () => preferences.chosen);
  const views = useViews();
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
      <label className="zone">
        <span>Routers opens with</span>
        <select
          className="control"
          value={views.some(({ id }) => id === routersView) ? routersView : ''}
          onChange={({ target }) => choose({ routersView: target.value === '' ? undefined : target.value })}
        >
          <option value="">all routers</option>
          {views.map(({ id, name, shared }) => (
            <option key={id} value={id}>
              {name}
              {shared ? ', of the team' : ''}
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
