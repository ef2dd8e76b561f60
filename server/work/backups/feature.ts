import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { JobsService } from '../jobs/service.ts';
import { teamBackupsRoute } from './list/routes.ts';
import { backupRoutes } from './routes.ts';
import { BackupsService } from './service.ts';

export { LONGEST_RETRY_MS } from './fetcher.ts';

interface Needs extends Pick<Platform, 'storage' | 'secrets' | 'clock' | 'log' | 'counters'> {
  routers: RoutersService;
  jobs: JobsService;
  gateway: AgentGateway;
}

export const backups = feature({
  create: ({ storage, secrets, clock, log, counters, routers, jobs, gateway }: Needs) => ({
    backups: new BackupsService({ storage, secrets, clock, log: log.child({ component: 'backups' }), counters, routers, jobs, gateway }),
  }),
  start: (own) => own.backups.start(),
  stop: (own) => own.backups.stop(),
  agentListener: ({ backups }) => ({ onReady: (connection) => backups.onReady(connection) }),
  measures: ({ backups }) => ({ shares: { backup_fetches: backups.fetches } }),
  routes: (scope, services: { backups: BackupsService }) => {
    backupRoutes(scope, services);
    teamBackupsRoute(scope, services);
  },
});
