import { feature } from '../../feature.ts';
import { consoleRoutes } from './routes.ts';

export { consolePage } from './routes.ts';
export { readConsole } from './service.ts';

/** The files of the web application, which uses the public interface for everything else. */
export const webConsole = feature({ create: () => ({}), openRoutes: consoleRoutes });
