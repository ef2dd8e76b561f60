import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { readConditions } from './conditions.ts';
import { OwnWarnings } from './service.ts';

/** A disk of some gigabytes does not fill up much faster. */
const EVERY_MS = 5 * 60_000;

/** The control plane's own certificate and disk. */
export const ownWarnings = feature({
  create: ({ config, storage, clock, log }: Pick<Platform, 'config' | 'storage' | 'clock' | 'log'>) => {
    const ownWarnings = new OwnWarnings({ storage, clock, read: (now) => readConditions(config, now) });
    const watch = new Periodic({
      clock,
      log: log.child({ component: 'own-warnings' }),
      everyMs: EVERY_MS,
      failure: 'the certificate or the disk could not be looked at',
      run: () => ownWarnings.check(),
    });
    return { ownWarnings, ownWatch: watch };
  },
  start: (own) => own.ownWatch.start(),
  stop: (own) => own.ownWatch.stop(),
});
