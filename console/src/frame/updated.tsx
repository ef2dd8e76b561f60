import { useSyncExternalStore } from 'react';
import { UPDATED, onUpdate, wasUpdated } from '../data/updated.ts';
import { words } from './words.ts';

/** Says above the page that a newer build is there. The person chooses when to reload: something may be typed. */
export function Updated() {
  const isUpdated = useSyncExternalStore(onUpdate, wasUpdated);
  if (!isUpdated) return null;
  return (
    <p className="outcome" role="alert">
      {UPDATED}{' '}
      <button type="button" className="btn sm" onClick={() => location.reload()}>
        {words.reload}
      </button>
    </p>
  );
}
