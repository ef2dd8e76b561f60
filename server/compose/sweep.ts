import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import { Periodic } from '../platform/core/periodic.ts';
import type { Features } from './assembly.ts';

const SWEEP_EVERY_MS = 3_600_000;

/** Deletes old records of all features every hour. @returns a function that stops it after the current batch */
export function sweepHourly(features: Pick<Features, 'sweep'>, clock: Clock, log: Log): () => Promise<void> {
  const sweeps = new Periodic({
    clock,
    log,
    everyMs: SWEEP_EVERY_MS,
    failure: 'old records could not be deleted',
    run: (signal) => features.sweep(signal),
  });
  sweeps.start();
  return () => sweeps.stop();
}
