import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { RetentionService } from './service.ts';

export const retention = feature({
  create: ({ storage, clock, counters }: Pick<Platform, 'storage' | 'clock' | 'counters'>) => ({
    retention: new RetentionService({ storage, clock, counters }),
  }),
  sweep: (own) => own.retention.sweep(),
});
