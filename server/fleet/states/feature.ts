import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentHolders, WatchRights } from '../agents/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { KnownRuns } from '../sessions/types.ts';
import { stateMeasures } from './measures.ts';
import { StatesService } from './service.ts';
import { ToldStates } from './told.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  routers: RoutersService;
  serverRuns: KnownRuns;
  agentHolders: AgentHolders | null;
  watchRights: WatchRights | null;
}

/** Listed after the routers, because it reads their names. */
export const states = feature({
  create: ({ config, storage, clock, log: allLog, counters, routers, serverRuns, cluster, agentHolders, watchRights }: Needs) => {
    const log = allLog.child({ component: 'states' });
    const { offlineAfterMs, keepHistoryMs: keepMs } = config;
    const shared = cluster && watchRights ? { rights: watchRights, othersServe: () => cluster.members.ids.length > 1 } : undefined;
    const states = new StatesService({ storage, clock, log, counters, routers, runs: serverRuns, shared, offlineAfterMs, keepMs });
    const toldStates =
      cluster && agentHolders ? new ToldStates({ storage, clock, log, cluster, holders: agentHolders, states, offlineAfterMs }) : null;
    return { states, toldStates };
  },
  start: async ({ states, toldStates }) => {
    await states.start();
    await toldStates?.start();
  },
  stop: async ({ states, toldStates }) => {
    await toldStates?.stop();
    await states.stop();
  },
  sweep: ({ states }, signal) => states.sweep(signal),
  measures: ({ states }) => stateMeasures(states),
  agentListener: ({ states, toldStates }) => ({
    onReady: (connection) => (toldStates ?? states).onReady(connection),
    onGone: (connection, end) => (toldStates ?? states).onGone(connection, end),
    onHeartbeat: (connection, heartbeat) => states.onHeartbeat(connection, heartbeat),
  }),
});
