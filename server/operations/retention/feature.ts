import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { RetentionService } from './service.ts';

export const retention = feature({
  create: ({ config, storage, clock, counters }: Pick<Platform, 'config' | 'storage' | 'clock' | 'counters'>) => ({
    retention: new RetentionService({
      storage,
      clock,
      counters,
      keepMs: {
        audit_log: config.keepAuditMs,
        faults: config.keepFaultsMs,
        forwards: config.keepForwardsMs,
        terminals: config.keepTerminalsMs,
        campaigns: config.keepCampaignsMs,
      },
    }),
  }),
  sweep: (own, signal) => own.retention.sweep(signal),
});
