import { useEffect, useEffectEvent, useState } from 'react';
import { actBetweenPresses } from './press.ts';

/** The address follows when nobody has typed for this time, or when the field is left; milliseconds. */
const PAUSE_MS = 250;

/**
 * A text that is kept in the address. What is typed counts at once and is written to the address at the next pause: the router changes an address
 * in a transition, which a thousand changes a second hold up for as long as they go on.
 */
export function useTyped(kept: string, write: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState<Typed>();
  const onPause = useEffectEvent((text: string) => {
    write(text);
    setTyped({ text, isWritten: true });
  });
  const isWaiting = typed?.isWritten === false;
  const text = typed?.text ?? kept;
  useEffect(() => {
    if (!isWaiting) return undefined;
    return writeAtPause(() => onPause(text));
  }, [isWaiting, text]);
  // The address has caught up: from here on it decides, so that Back works. Before the last text was written, the same text in the address is
  // that of an earlier pause, which another one is about to follow.
  if (typed?.isWritten === true && typed.text === kept) setTyped(undefined);
  return [text, (now) => setTyped({ text: now, isWritten: false })];
}

/** Writes when the person pauses or leaves the field. @returns how to give it up */
export function writeAtPause(write: () => void): () => void {
  let giveUp: (() => void) | undefined;
  // A press on a row takes the focus from the field. The rows of the new address must not take the row away before the click.
  const pause = (): void => {
    // The pause may end and the field be left in one press.
    giveUp?.();
    giveUp = actBetweenPresses(write);
  };
  const timer = setTimeout(pause, PAUSE_MS);
  // Whoever leaves the field may be about to reload the page, which reads the address.
  document.addEventListener('focusout', pause);
  return () => {
    clearTimeout(timer);
    giveUp?.();
    document.removeEventListener('focusout', pause);
  };
}

interface Typed {
  text: string;
  isWritten: boolean;
}
