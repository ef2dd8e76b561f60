import { feature } from '../../feature.ts';
import { catalogRoutes } from './routes.ts';

export { loadCatalog } from './service.ts';

/** The service is among what every feature gets: reading its files takes an await. */
export const catalog = feature({ create: () => ({}), routes: catalogRoutes });
