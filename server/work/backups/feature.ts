import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { SitesService } from '../../fleet/sites/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { JobsService } from '../jobs/service.ts';
import { teamBackupsRoute } from './list/routes.ts';
import { backupRoutes } from './routes.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { BackupSchedules } from './schedules/service.ts';
import { BackupsService } from './service.ts';
import { DEFAULT_BACKUP_RULES } from './types.ts';

export { LONGEST_RETRY_MS } from './fetcher.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'secrets' | 'clock' | 'log' | 'counters' | 'cluster'> {
  routers: RoutersService;
  jobs: JobsService;
  sites: SitesService;
  gateway: AgentGateway;
}

export const backups = feature({
  create: ({ config, storage, secrets, clock, log, counters, cluster, routers, jobs, sites, gateway }: Needs) => ({
    backups: new BackupsService({
      storage,
      secrets,
      clock,
      log: log.child({ component: 'backups' }),
      counters,
      members: cluster?.members,
      routers,
      jobs,
      gateway,
      rules: { ...DEFAULT_BACKUP_RULES, keepMs: config.keepBackupsMs },
    }),
    backupSchedules: new BackupSchedules({ storage, clock, log: log.child({ component: 'backups' }), sites, members: cluster?.members }),
  }),
  start: async (own) => {
    own.backups.start();
    own.backupSchedules.start();
  },
  stop: async (own) => {
    await own.backupSchedules.stop();
    await own.backups.stop();
  },
  agentListener: ({ backups }) => ({ onReady: (connection) => backups.onReady(connection) }),
  measures: ({ backups }) => ({ shares: { backup_fetches: backups.fetches } }),
  routes: (scope, services: { backups: BackupsService; backupSchedules: BackupSchedules }) => {
    backupRoutes(scope, services);
    teamBackupsRoute(scope, services);
    scheduleRoutes(scope, services);
  },
});
