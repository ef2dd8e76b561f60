import { useSyncExternalStore } from 'react';
import { UPDATED, askAgain, noticeNow, onNotice, reload } from '../data/updated.ts';
import { words } from './words.ts';

/** Says above the page that a newer build is there, or that a part of it could not be loaded. The person chooses when: something may be typed. */
export function Updated() {
  const notice = useSyncExternalStore(onNotice, noticeNow);
  if (notice === undefined) return null;
  const isUpdated = notice === UPDATED;
  return (
    <p className="outcome" role="alert">
      {notice}{' '}
      <button type="button" className="btn sm" onClick={() => (isUpdated ? void reload() : askAgain())}>
        {isUpdated ? words.reload : words.tryAgain}
      </button>
    </p>
  );
}
