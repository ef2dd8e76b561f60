import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 700px)');

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

/** Whether the window is as narrow as a phone: then tables are cards. */
export function usePhone(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}
