import { readFileSync } from 'node:fs';
import type { Clock } from '../../../agent/core/clock.ts';
import { systemClock } from '../../../agent/core/clock.ts';

/** The file is looked at so often, milliseconds. */
const LOOK_EVERY_MS = 50;

/**
 * The clock of a machine that somebody sets wrong while the program runs. Its error, in milliseconds, is what stands in
 * the file; timers are not moved by it, as on a real machine.
 */
export function shiftedClock(file: string): Clock {
  let error = 0;
  let lookedAt = -LOOK_EVERY_MS;
  return {
    now: () => {
      if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = performance.now();
        error = readError(file, error);
      }
      return Date.now() + error;
    },
    monotonic: () => systemClock.monotonic(),
    sinceBoot: () => systemClock.sinceBoot(),
    setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms),
  };
}

function readError(file: string, before: number): number {
  try {
    const text = readFileSync(file, 'utf8');
    // Just being written.
    return text === '' ? before : Number(text);
  } catch {
    return before;
  }
}
