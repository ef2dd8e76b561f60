import { createRouter } from '@tanstack/react-router';
import { fleetRoutes } from './pages/fleet/routes.ts';
import { root } from './root-route.ts';

const tree = root.addChildren([...fleetRoutes]);

export function createAppRouter() {
  return createRouter({ routeTree: tree, scrollRestoration: true });
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter;
  }
}
