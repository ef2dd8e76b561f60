import { useEffect, useRef, useState } from 'react';
import type { ToTerminal } from '../../terminal/messages.ts';
import { readSize } from './recording.ts';
import type { Cast } from './recording.ts';

export const SPEEDS = [1, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

const TICK_MS = 50;

/** Plays a recording on a screen: where it is, and how to move it. Times are seconds. */
export function usePlayback(cast: Cast) {
  const speaker = useRef<(message: ToTerminal) => void>(undefined);
  /** What is shown, and the event that comes next. */
  const position = useRef({ at: 0, next: 0 });
  const [at, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const length = cast.events.at(-1)?.at ?? 0;

  function showUntil(to: number): void {
    const place = position.current;
    place.at = to;
    for (let event = cast.events[place.next]; event && event.at <= to; event = cast.events[place.next]) {
      speaker.current?.(event.kind === 'o' ? { kind: 'show', text: event.text } : { kind: 'size', ...readSize(event.text) });
      place.next += 1;
    }
    setAt(Math.min(to, length));
    if (to >= length) setPlaying(false);
  }

  function seek(to: number): void {
    if (to < position.current.at) {
      position.current = { at: 0, next: 0 };
      speaker.current?.({ kind: 'clear', cols: cast.cols, rows: cast.rows });
    }
    showUntil(to);
  }

  const tick = useRef(showUntil);
  useEffect(() => {
    tick.current = showUntil;
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setInterval(() => tick.current(position.current.at + (TICK_MS / 1000) * speed), TICK_MS);
    return () => clearInterval(timer);
  }, [isPlaying, speed]);

  return {
    at,
    length,
    speed,
    setSpeed,
    isPlaying,
    speaker,
    seek,
    /** The screen is there. */
    begin: () => {
      speaker.current?.({ kind: 'clear', cols: cast.cols, rows: cast.rows });
      setPlaying(true);
    },
    playOrPause: () => {
      if (!isPlaying && at >= length) seek(0);
      setPlaying(!isPlaying);
    },
  };
}
