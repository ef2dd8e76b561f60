import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { CatalogService } from '../catalog/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { SessionsService } from '../sessions/service.ts';
import { metadataRoutes } from './routes.ts';
import { MetadataService } from './service.ts';

interface Needs extends Pick<Platform, 'storage' | 'clock' | 'log' | 'cluster'> {
  sessions: SessionsService;
  routers: RoutersService;
  catalog: CatalogService;
}

export const metadata = feature({
  create: ({ storage, clock, log, cluster, routers, catalog, sessions }: Needs) => ({
    metadata: new MetadataService({
      storage,
      clock,
      log: log.child({ component: 'metadata' }),
      routers,
      catalog,
      addressElsewhere: cluster ? (teamId, agentId) => sessions.addressElsewhere(teamId, agentId) : undefined,
    }),
  }),
  agentListener: ({ metadata }) => ({
    onReady: (connection) => metadata.onReady(connection),
    onGone: (connection) => metadata.onGone(connection),
    onHealth: (connection, health) => metadata.onHealth(connection, health),
  }),
  routes: metadataRoutes,
});
