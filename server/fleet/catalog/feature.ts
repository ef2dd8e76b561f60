import { feature } from '../../feature.ts';
import { catalogRoutes } from './routes.ts';

export { loadCatalog } from './service.ts';

/** The service is created before the features, because reading its files is asynchronous. */
export const catalog = feature({ create: () => ({}), routes: catalogRoutes });
