import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import type { RecordList } from '../data/use-list.ts';

/**
 * A click goes to what was under the pointer both when it was pressed and when it was let go. What moves in between takes it away. So the page
 * waits with what moves rows, but no longer than this: the end of a press can get lost (in a menu of the browser, in another window); milliseconds.
 */
const LONGEST_PRESS_MS = 3000;
/** After a touch or a pen the click comes in a later task, at most this late: browsers wait so long for a second tap; milliseconds. */
const LONGEST_TAP_MS = 350;

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
  endAfter(LONGEST_PRESS_MS, endWithoutClick);
}

function letGo({ pointerType }: PointerEvent): void {
  // The click of a mouse comes in this turn.
  if (state === 'down') awaitClick(pointerType === 'mouse' ? 0 : LONGEST_TAP_MS);
}

function endWithoutClick(): void {
  if (state === 'down') awaitClick(0);
}

function awaitClick(ms: number): void {
  state = 'clicking';
  for (const act of waiting) act();
  waiting.clear();
  endAfter(ms, end);
}

function end(): void {
  state = 'up';
  for (const listener of listeners) listener();
}

/** One limit at a time: a later press or the click takes the place of what was to end an earlier one. */
function endAfter(ms: number, how: () => void): void {
  clearTimeout(limit);
  limit = setTimeout(how, ms);
}

addEventListener('pointerdown', press, true);
addEventListener('pointerup', letGo, true);
// A touch that scrolls becomes no click.
addEventListener('pointercancel', endWithoutClick, true);
// Elements that lose the focus are heard here, too.
addEventListener('blur', ({ target }) => (target === window ? endWithoutClick() : undefined), true);
// Heard before the row hears it.
addEventListener('click', () => (state === 'clicking' ? endAfter(0, end) : undefined), true);

/** Acts now, or, while the pointer is pressed, when it is let go, before the click. @returns how to give it up */
export function actBetweenPresses(act: () => void): () => void {
  if (state === 'down') waiting.add(act);
  else act();
  return () => waiting.delete(act);
}

/** Calls when rows may move again. @returns how to end it */
export function subscribeToHeld(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a press goes on, or its click is still to come. */
export const isHeld = (): boolean => state !== 'up';

/** What a list shows: the newest value, but none that comes between a press and its click. */
export function useStill<T>(value: T): T {
  const isStill = useSyncExternalStore(subscribeToHeld, isHeld);
  const shown = useRef(value);
  useLayoutEffect(() => {
    if (!isStill) shown.current = value;
  });
  return isStill ? shown.current : value;
}

type Rows<T> = Pick<RecordList<T>, 'records' | 'hasMore' | 'isFirst' | 'isOld'>;

/** A list whose rows stay still. How it is read on goes by the newest: rows of before a press do not know what was asked for since. */
export function useStillRows<T>(newest: RecordList<T>): RecordList<T> {
  const { records, hasMore, isFirst, isOld = false } = useStill<Rows<T>>(newest);
  return { ...newest, records, hasMore, isFirst, isOld };
}
