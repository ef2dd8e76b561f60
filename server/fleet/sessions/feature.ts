import { feature } from '../../feature.ts';
import { Settlement } from '../../platform/nodes/settlement.ts';
import type { Platform } from '../../feature.ts';
import type { AgentHolders, AgentsService } from '../agents/service.ts';
import { LinesElsewhere } from './lines-elsewhere.ts';
import { sessionMeasures } from './measures.ts';
import { sessionRoutes } from './routes.ts';
import { ServerRuns } from './runs.ts';
import { SessionsService } from './service.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  agentHolders: AgentHolders | null;
}

interface Routes {
  agents: AgentsService;
  sessions: SessionsService;
}

/** Built before the gateway, which reports tunnels to it. It stops after every other feature that keeps a history. */
export const sessions = feature({
  create: ({ config, storage, clock, log, counters, cluster, agentHolders }: Needs) => {
    const deps = { storage, clock, log: log.child({ component: 'sessions' }), nodeId: cluster?.nodeId };
    const serverRuns = new ServerRuns(deps);
    const sessions = new SessionsService({ ...deps, counters, keepMs: config.keepHistoryMs });
    if (cluster && agentHolders)
      sessions.askOthers(new LinesElsewhere({ cluster, holders: agentHolders, measure: (agentId) => sessions.measure(agentId) }));
    return {
      serverRuns,
      sessions,
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
