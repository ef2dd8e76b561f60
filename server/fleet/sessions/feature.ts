import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentsService } from '../agents/service.ts';
import { sessionMeasures } from './measures.ts';
import { sessionRoutes } from './routes.ts';
import { ServerRuns } from './runs.ts';
import { SessionsService } from './service.ts';

interface Routes {
  agents: AgentsService;
  sessions: SessionsService;
}

/** Built before the gateway, which reports tunnels to it. It stops after every other feature that keeps a history. */
export const sessions = feature({
  create: ({ config, storage, clock, log, counters }: Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters'>) => {
    const deps = { storage, clock, log: log.child({ component: 'sessions' }) };
    return { serverRuns: new ServerRuns(deps), sessions: new SessionsService({ ...deps, counters, keepMs: config.keepHistoryMs }) };
  },
  start: async ({ serverRuns, sessions }) => {
    await serverRuns.start();
    sessions.start();
  },
  stop: async ({ serverRuns, sessions }) => {
    await sessions.stop();
    await serverRuns.stop();
  },
  sweep: ({ sessions }, signal) => sessions.sweep(signal),
  measures: ({ sessions }) => sessionMeasures(sessions),
  routes: (scope, services: Routes) => sessionRoutes(scope, services),
});
