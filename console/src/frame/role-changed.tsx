import { useSyncExternalStore } from 'react';
import { useFleet } from '../data/use-fleet.ts';
import { words } from './words.ts';

/** Says above the page that somebody has changed the person's role, because the page has just changed with it. */
export function RoleChanged() {
  const { who } = useFleet();
  const change = useSyncExternalStore(who.subscribe, () => who.change);
  return (
    <div role="status">
      {change === undefined ? null : (
        <p className="outcome">
          <b>{words.role.now(change.role)}</b> {change.isLower ? `${words.role.lower} ` : ''}
          <button type="button" className="btn quiet sm" onClick={() => who.noteChange()}>
            {words.role.close}
          </button>
        </p>
      )}
    </div>
  );
}
