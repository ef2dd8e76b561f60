import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { NowPage } from './pages/now/now-page.tsx';
import { RouterPage } from './pages/router/router-page.tsx';
import { RoutersPage } from './pages/routers/routers-page.tsx';
import { readSearch } from './pages/routers/search.ts';
import { NoSuchPage } from './pages/no-such-page.tsx';

// Each route is a constant of its own: written inside `addChildren`, all types of the tree become `any` without a word.
const root = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage });
const now = createRoute({ getParentRoute: () => root, path: '/', component: NowPage });
const routers = createRoute({ getParentRoute: () => root, path: '/routers', component: RoutersPage, validateSearch: readSearch });
const router = createRoute({ getParentRoute: () => root, path: '/routers/$routerId', component: RouterPage });
const tree = root.addChildren([now, routers, router]);

export function createAppRouter() {
  return createRouter({ routeTree: tree, scrollRestoration: true });
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter;
  }
}
