import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import { eventRoutes } from './routes.ts';
import type { EventRoutesDeps } from './routes.ts';
import { EventsService } from './service.ts';
import { EventSources } from './sources.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log'> {
  routers: RoutersService;
}

interface Routes extends Pick<EventRoutesDeps, 'events'> {
  connectedCaller: EventRoutesDeps['authenticate'];
}

/** Starts before the features whose changes it publishes, and stops after them. */
export const events = feature({
  create: ({ config, storage, clock, log, routers }: Needs) => {
    const own = { clock, log: log.child({ component: 'events' }) };
    const events = new EventsService(own);
    const deps = { ...own, events, routers, storage, offlineAfterMs: config.offlineAfterMs };
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
