import process from 'node:process';

/** What ends a program; `close-with-grace` is told to leave them alone. */
export const END_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const satisfies NodeJS.Signals[];

/**
 * A terminal signals everybody in it, and the wrapper that has started this program (npx, a service manager) passes the
 * signal on: what comes so soon after the first is the same one, and not somebody who cannot wait. Milliseconds.
 */
const SAME_SIGNAL_MS = 1000;

/**
 * Calls back at the first signal to end; a later one ends the process at once, with code 1. For both programs, which are
 * ended by the same hands and have no other place in common. `signals` leaves out those that mean something else there.
 */
export function onEndSignal(end: (signal: NodeJS.Signals) => void, signals: readonly NodeJS.Signals[] = END_SIGNALS): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      end(signal);
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      process.exit(1);
    }
  };
  for (const signal of signals) process.on(signal, onSignal);
}
