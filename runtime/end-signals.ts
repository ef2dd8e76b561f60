import process from 'node:process';

/** Signals that end a program. `close-with-grace` is configured to ignore them. */
export const END_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const satisfies NodeJS.Signals[];

/**
 * A signal within this time of the first one is a duplicate, in milliseconds. A terminal signals every process in it, and the
 * wrapper that started this program (npx, a service manager) passes the same signal on.
 */
const SAME_SIGNAL_MS = 1000;

/**
 * Calls back at the first signal; a later one ends the process at once, with exit code 1. Used by the control plane and the agent.
 * @param signals leave out those that have another meaning in the program
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
