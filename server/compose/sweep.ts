import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import { Periodic } from '../platform/core/periodic.ts';
import type { Cluster } from '../feature.ts';
import type { Features } from './assembly.ts';

const SWEEP_EVERY_MS = 3_600_000;

interface SweepDeps {
  /** Null for a control plane that serves its database alone. */
  cluster: Pick<Cluster, 'members'> | null;
  clock: Clock;
  log: Log;
}

/** Deletes old records of all features every hour, on one of several control planes. @returns a function that stops it after the current batch */
export function sweepHourly(features: Pick<Features, 'sweep'>, { cluster, clock, log }: SweepDeps): () => Promise<void> {
  const sweeps = new Periodic({
    clock,
    log,
    everyMs: SWEEP_EVERY_MS,
    failure: 'old records could not be deleted',
    run: (signal) => (cluster && !cluster.members.isOwn('sweep') ? undefined : features.sweep(signal)),
  });
  sweeps.start();
  return () => sweeps.stop();
}
