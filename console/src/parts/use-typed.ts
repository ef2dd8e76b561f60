import { useEffect, useEffectEvent, useState } from 'react';

/** The address follows when nobody has typed for this time, milliseconds. */
const PAUSE_MS = 250;

/**
 * A text that is kept in the address. What is typed counts at once and is written to the address at the next pause: the router changes an address
 * in a transition, which a thousand changes a second hold up for as long as they go on.
 */
export function useTyped(kept: string, write: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState<string>();
  const onPause = useEffectEvent(write);
  useEffect(() => {
    if (typed === undefined) return undefined;
    const timer = setTimeout(() => onPause(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // The address has caught up: from here on it decides, so that Back works.
  if (typed !== undefined && typed === kept) setTyped(undefined);
  return [typed ?? kept, setTyped];
}
