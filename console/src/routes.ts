import { createRouter } from '@tanstack/react-router';
import { PageFailed } from './frame/page-failed.tsx';
import { fleetRoutes } from './pages/fleet/routes.ts';
import { notificationRoutes } from './pages/notifications/routes.ts';
import { settingsRoutes } from './pages/settings/routes.ts';
import { workRoutes } from './pages/work/routes.ts';
import { terminalRoutes } from './pages/terminals/routes.ts';
import { root } from './root-route.ts';

const tree = root.addChildren([...fleetRoutes, ...workRoutes, ...settingsRoutes, ...notificationRoutes, ...terminalRoutes]);

export function createAppRouter() {
  return createRouter({
    routeTree: tree,
    scrollRestoration: true,
    parseSearch,
    stringifySearch,
    defaultErrorComponent: PageFailed,
    // Another record is another page: nothing that was typed, asked or opened for one is left over for the next.
    defaultRemountDeps: ({ params }) => params,
  });
}

/** Every value of an address is a plain text: `?q=7.18`, not `?q=%227.18%22`. `validateSearch` of each route reads what it needs. */
function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (value !== undefined) parameters.set(name, `${value as string | number | boolean}`);
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter;
  }
}
