import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { auditRoutes } from './routes.ts';
import { AuditService } from './service.ts';

export const audit = feature({
  create: ({ storage, clock, log, counters }: Pick<Platform, 'storage' | 'clock' | 'log' | 'counters'>) => ({
    audit: new AuditService({ storage, clock, log: log.child({ component: 'audit' }), counters }),
  }),
  stop: (own) => own.audit.stop(),
  routes: auditRoutes,
});
