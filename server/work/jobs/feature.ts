import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import { jobDetailRoutes } from './detail/routes.ts';
import type { JobDetailDeps } from './detail/routes.ts';
import { teamJobsRoute } from './list/routes.ts';
import { jobMeasures } from './measures.ts';
import { jobRoutes } from './routes.ts';
import { JobsService } from './service.ts';
import { JobTimelines } from './timeline/timelines.ts';
import { DEFAULT_JOB_RULES } from './types.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  routers: RoutersService;
  states: Pick<StatesService, 'history'>;
  gateway: AgentGateway;
  tunnelRegistry: Pick<AgentGateway, 'notify'>;
}

export const jobs = feature({
  create: ({ config, storage, clock, log, counters, cluster, routers, states, gateway, tunnelRegistry }: Needs) => ({
    jobTimelines: new JobTimelines({ storage, clock, states }),
    jobs: new JobsService({
      storage,
      gateway,
      tunnels: tunnelRegistry,
      cluster: cluster ?? undefined,
      routers,
      clock,
      log: log.child({ component: 'jobs' }),
      rules: { ...DEFAULT_JOB_RULES, keepMs: config.keepJobsMs },
      notifyUrls: { allowLoopback: config.allowLoopbackWebhooks },
      counters,
      agentsApartMs: AGENTS_APART_MS,
    }),
  }),
  start: (own) => own.jobs.start(),
  stop: (own) => own.jobs.stop(),
  agentListener: ({ jobs }) => ({
    onReady: (connection, open) => jobs.onReady(connection, open),
    onGone: (connection) => jobs.onGone(connection),
    onHeartbeat: (connection, heartbeat) => jobs.onHeartbeat(connection, heartbeat),
    onJobAccepted: (connection, jobId) => jobs.onJobAccepted(connection, jobId),
    onJobDeclined: (connection, declined) => jobs.onJobDeclined(connection, declined),
    onJobBegan: (connection, jobId) => jobs.onJobBegan(connection, jobId),
    onJobEnded: (connection, jobId, result) => jobs.onJobEnded(connection, jobId, result),
    onJobRefused: (connection, jobId) => jobs.onJobRefused(connection, jobId),
    onJobGuard: (connection, guard) => jobs.onJobGuard(connection, guard),
  }),
  measures: ({ jobs }) => ({ shares: { job_offers: jobs.offers }, ...jobMeasures(jobs.changes) }),
  routes: (scope, services: JobDetailDeps) => {
    jobRoutes(scope, services);
    jobDetailRoutes(scope, services);
    teamJobsRoute(scope, services);
  },
});
