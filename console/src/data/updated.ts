/**
 * Whether this page is of an older build than the control plane serves now: a part of it that is loaded when it is needed is no longer there.
 * What is on the page goes on working, and a reload brings the new one.
 */
let isUpdated = false;
const listeners = new Set<() => void>();

export const UPDATED = 'Signalbox was updated. Reload this page to go on.';

/** A part could not be loaded. @returns what to say about it */
export function noteUpdate(): string {
  isUpdated = true;
  for (const listener of listeners) listener();
  return UPDATED;
}

export function wasUpdated(): boolean {
  return isUpdated;
}

export function onUpdate(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
