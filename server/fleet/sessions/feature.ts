import { feature } from '../../feature.ts';
import { Settlement } from '../../platform/nodes/settlement.ts';
import type { Platform } from '../../feature.ts';
import type { AgentsService } from '../agents/service.ts';
import { sessionMeasures } from './measures.ts';
import { sessionRoutes } from './routes.ts';
import { ServerRuns } from './runs.ts';
import { SessionsService } from './service.ts';

type Needs = Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'>;

interface Routes {
  agents: AgentsService;
  sessions: SessionsService;
}

/** Built before the gateway, which reports tunnels to it. It stops after every other feature that keeps a history. */
export const sessions = feature({
  create: ({ config, storage, clock, log, counters, cluster }: Needs) => {
    const deps = { storage, clock, log: log.child({ component: 'sessions' }), nodeId: cluster?.nodeId };
    const serverRuns = new ServerRuns(deps);
    return {
      serverRuns,
      sessions: new SessionsService({ ...deps, counters, keepMs: config.keepHistoryMs }),
      sessionSettlement: cluster && new Settlement({ ...deps, cluster, name: 'sessions', run: () => serverRuns.settle() }),
    };
  },
  start: async ({ serverRuns, sessions, sessionSettlement }) => {
    await serverRuns.start();
    sessions.start();
    sessionSettlement?.start();
  },
  stop: async ({ serverRuns, sessions, sessionSettlement }) => {
    await sessionSettlement?.stop();
    await sessions.stop();
    await serverRuns.stop();
  },
  sweep: ({ sessions }, signal) => sessions.sweep(signal),
  measures: ({ sessions }) => sessionMeasures(sessions),
  routes: (scope, services: Routes) => sessionRoutes(scope, services),
});
