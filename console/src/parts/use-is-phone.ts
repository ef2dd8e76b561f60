import { useSyncExternalStore } from 'react';

/** As in the style sheets. */
const phone = matchMedia('(max-width: 700px)');

function subscribe(listener: () => void): () => void {
  phone.addEventListener('change', listener);
  return () => phone.removeEventListener('change', listener);
}

/** Whether the window is as narrow as a phone: for what a style sheet cannot say, such as the height of virtual rows. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => phone.matches);
}
