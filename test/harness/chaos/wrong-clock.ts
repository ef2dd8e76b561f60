import { readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * Imported first, gives the process a wall clock that is set while it runs: `Date` is wrong by as
 * many milliseconds as stand in the file that is the program's last argument. That reaches the product's own clock and every
 * library. `performance.now()`, `os.uptime()` and timers stay right, as on a real machine.
 */

/** Poll interval of the file, milliseconds. */
const LOOK_EVERY_MS = 50;

const file = process.argv.at(-1)!;
const rightNow = Date.now.bind(Date);
let error = 0;
let lookedAt = -LOOK_EVERY_MS;

function wrongNow(): number {
  if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
    lookedAt = performance.now();
    error = readError(error);
  }
  return rightNow() + error;
}

function readError(before: number): number {
  try {
    const text = readFileSync(file, 'utf8');
    // Just being written.
    return text === '' ? before : Number(text);
  } catch {
    return before;
  }
}

Date.now = wrongNow;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, newTarget) as Date,
  apply: (target) => new target(wrongNow()).toString(),
});
