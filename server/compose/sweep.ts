import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import type { Features } from './assembly.ts';

const SWEEP_EVERY_MS = 3_600_000;

/** Deletes old records of all features every hour. @returns what ends it, after the sweep under way */
export function sweepHourly(features: Pick<Features, 'sweep'>, clock: Clock, log: Log): () => Promise<void> {
  let sweeping: Promise<void> = Promise.resolve();
  const schedule = () =>
    clock.setTimeout(() => {
      sweeping = features.sweep().catch((error: unknown) => log.warn({ err: error }, 'old records stay'));
      timer = schedule();
    }, SWEEP_EVERY_MS);
  let timer = schedule();
  return async () => {
    timer.cancel();
    await sweeping;
  };
}
