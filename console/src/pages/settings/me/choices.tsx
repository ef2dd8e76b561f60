import { Link } from '@tanstack/react-router';
import { useState, useSyncExternalStore } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import type { Chosen } from '../../../data/preferences.ts';
import { useViews } from '../../../data/use-views.ts';
import { onThemeChange, themeChoice } from '../../../look/theme.ts';
import type { ThemeChoice } from '../../../look/theme.ts';
import { fill } from '../../../parts/fill.tsx';
import { sentenceOf } from '../../../parts/reading.tsx';
import { zonesWith } from '../../../parts/zone-field.tsx';
import { words } from './words.ts';

const THEMES: readonly { value: ThemeChoice; name: string }[] = [
  { value: 'system', name: words.look.system },
  { value: 'light', name: words.look.light },
  { value: 'dark', name: words.look.dark },
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
        <legend className="sr">{words.look.theme}</legend>
        {THEMES.map(({ value, name }) => (
          <label key={value}>
            <input type="radio" name="theme" value={value} checked={theme === value} onChange={() => choose({ theme: value })} /> {name}
          </label>
        ))}
      </fieldset>
      <label className="zone">
        <span>{words.look.zone}</span>
        <select
          className="control"
          value={timeZone}
          onChange={({ target }) => choose({ timeZone: target.value === '' ? undefined : target.value })}
        >
          <option value="">{words.look.ofBrowser(Intl.DateTimeFormat().resolvedOptions().timeZone)}</option>
          {zonesWith(timeZone).map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </label>
      <p className="hint">
        {fill(words.look.zoneAbout, {
          zone: (
            <Link to="/me/notifications" className="under">
              {words.look.zoneOfMessages}
            </Link>
          ),
        })}
      </p>
      <label className="zone">
        <span>{words.look.view}</span>
        <select
          className="control"
          value={views.some(({ id }) => id === routersView) ? routersView : ''}
          onChange={({ target }) => choose({ routersView: target.value === '' ? undefined : target.value })}
        >
          <option value="">{words.look.all}</option>
          {views.map(({ id, name, shared }) => (
            <option key={id} value={id}>
              {shared ? words.look.shared(name) : name}
            </option>
          ))}
        </select>
      </label>
      <p className="hint" role="status">
        {error === undefined ? words.look.kept : words.look.notKept(sentenceOf(error))}
      </p>
    </>
  );
}
