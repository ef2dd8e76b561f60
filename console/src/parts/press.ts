import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';

/**
 * A click goes to what was under the pointer both when it was pressed and when it was let go. What moves in between takes it away. So the page
 * waits with what moves rows, but no longer than this: the end of a press can get lost (in a menu of the browser, in another window); milliseconds.
 */
const LONGEST_PRESS_MS = 3000;

/** `clicking`: let go, and the click that this becomes is not handled yet. */
let state: 'up' | 'down' | 'clicking' = 'up';
let limit: ReturnType<typeof setTimeout> | undefined;
/** Called when the pointer is let go, before the click. */
const waiting = new Set<() => void>();
/** Called after the click. */
const listeners = new Set<() => void>();

function press({ button }: PointerEvent): void {
  if (button !== 0) return;
  state = 'down';
  clearTimeout(limit);
  limit = setTimeout(letGo, LONGEST_PRESS_MS);
}

function letGo(): void {
  if (state !== 'down') return;
  state = 'clicking';
  clearTimeout(limit);
  for (const act of waiting) act();
  waiting.clear();
  // The click comes in this turn.
  setTimeout(() => {
    if (state === 'clicking') state = 'up';
    for (const listener of listeners) listener();
  });
}

addEventListener('pointerdown', press, true);
addEventListener('pointerup', letGo, true);
addEventListener('pointercancel', letGo, true);
// Elements that lose the focus are heard here, too.
addEventListener('blur', ({ target }) => (target === window ? letGo() : undefined), true);

/** Acts now, or, while the pointer is pressed, when it is let go, before the click. @returns how to give it up */
export function actBetweenPresses(act: () => void): () => void {
  if (state === 'down') waiting.add(act);
  else act();
  return () => waiting.delete(act);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What a list shows: the newest value, but none that comes between a press and its click. */
export function useStill<T>(value: T): T {
  const isHeld = useSyncExternalStore(subscribe, () => state !== 'up');
  const shown = useRef(value);
  useLayoutEffect(() => {
    if (!isHeld) shown.current = value;
  });
  return isHeld ? shown.current : value;
}
