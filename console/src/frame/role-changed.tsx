import { useSyncExternalStore } from 'react';
import { useFleet } from '../data/use-fleet.ts';

/** Says above the page that somebody has changed the person's role, because the page has just changed with it. */
export function RoleChanged() {
  const { who } = useFleet();
  const change = useSyncExternalStore(who.subscribe, () => who.change);
  return (
    <div role="status">
      {change === undefined ? null : (
        <p className="outcome">
          <b>Your role is now {change.role}.</b> {change.isLower ? 'What it does not allow is gone from this page. ' : ''}
          <button type="button" className="btn quiet sm" onClick={() => who.noteChange()}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}
