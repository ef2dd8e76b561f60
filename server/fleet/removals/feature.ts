import { feature } from '../../feature.ts';
import { removalRoutes } from './routes.ts';
import { RemovalsService } from './service.ts';
import type { RemovalsDeps } from './types.ts';

export const removals = feature({ create: (needs: RemovalsDeps) => ({ removals: new RemovalsService(needs) }), routes: removalRoutes });
