import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { eventRoutes } from './routes.ts';
import type { EventRoutesDeps } from './routes.ts';
import { EVENT_RULES, EventsService } from './service.ts';
import { SharedHistory } from './shared-history.ts';
import { EventSources } from './sources.ts';

export { EVENT_RULES } from './service.ts';
export { LOST_EVENTS } from './types.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'cluster'> {
  routers: RoutersService;
  gateway: AgentGateway;
}

interface Routes extends Pick<EventRoutesDeps, 'events'> {
  connectedCaller: EventRoutesDeps['authenticate'];
}

/** Starts before the features whose changes it publishes, and stops after them. */
export const events = feature({
  create: ({ config, storage, clock, log, cluster, routers, gateway }: Needs) => {
    const own = { clock, log: log.child({ component: 'events' }) };
    const events = new EventsService({ ...own, ...(cluster && { history: new SharedHistory(cluster.log, EVENT_RULES.remembered) }) });
    const shared = cluster && {
      log: cluster.log,
      // While nobody has its tunnel, one of them does: what the others have heard is in the database.
      watches: (agentId: string) =>
        gateway.epoch(agentId) !== undefined || (!gateway.isConnected(agentId) && cluster.members.isOwn(agentId)),
    };
    const deps = { ...own, events, routers, storage, offlineAfterMs: config.offlineAfterMs, shared: shared ?? undefined };
    return { events, eventSources: new EventSources(deps) };
  },
  start: (own) => own.eventSources.start(),
  stop: (own) => own.eventSources.stop(),
  agentListener: ({ eventSources }) => ({
    onHeartbeat: (connection, heartbeat) =>
      eventSources.onHeartbeat(
        connection,
        heartbeat.routers.map(({ name }) => name),
      ),
  }),
  measures: ({ events }) => ({ shares: { event_streams: events.shares } }),
  routes: (scope, { events, connectedCaller }: Routes) => eventRoutes(scope, { events, authenticate: connectedCaller }),
});
