import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { CatalogService } from '../catalog/service.ts';
import type { AgentHolders, WatchRights } from '../agents/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { StatesService } from '../states/service.ts';
import { teamFaultsRoute } from './list/routes.ts';
import { faultRoutes } from './routes.ts';
import { FaultsService } from './service.ts';
import type { FaultEvent } from './types.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  agentHolders: AgentHolders | null;
  watchRights: WatchRights | null;
  routers: RoutersService;
  states: StatesService;
  catalog: CatalogService;
}

export const faults = feature({
  create: ({ config, storage, clock, log, counters, cluster, agentHolders, watchRights, routers, states, catalog }: Needs) => {
    /** Publishes faults that were opened or resolved, after they are stored. */
    const faultEvents = new Listeners<FaultEvent>();
    const faults = new FaultsService({
      storage,
      clock,
      log: log.child({ component: 'faults' }),
      routers,
      states,
      sharing:
        cluster && agentHolders && watchRights ? { holders: agentHolders, members: cluster.members, rights: watchRights } : undefined,
      counters,
      onFault: (event) => faultEvents.publish(event),
      testedAmbience: (router) => catalog.describe({ model: router.model, boardName: router.board_name }).tested_ambient_temperature,
      rules: { heartbeatMs: config.heartbeatMs, offlineAfterMs: config.offlineAfterMs },
    });
    return { faults, faultEvents };
  },
  start: (own) => own.faults.start(),
  stop: (own) => own.faults.stop(),
  agentListener: ({ faults }) => ({
    onReady: (connection) => faults.onReady(connection),
    onGone: (connection) => faults.onGone(connection),
    onHeartbeat: (connection, heartbeat) => faults.onHeartbeat(connection, heartbeat),
    onHealth: (connection, health) => faults.onHealth(connection, health),
  }),
  measures: ({ faults }) => ({ shares: { fault_changes: faults.waiting } }),
  routes: (scope, services: { faults: FaultsService; now: () => number }) => {
    faultRoutes(scope, services);
    teamFaultsRoute(scope, services);
  },
});
