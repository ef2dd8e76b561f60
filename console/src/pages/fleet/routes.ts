import { createRoute } from '@tanstack/react-router';
import { root } from '../../root-route.ts';
import { NowPage } from './now/now-page.tsx';
import { RouterPage } from './router/router-page.tsx';
import { RoutersPage } from './routers/routers-page.tsx';
import { readSearch } from './routers/search.ts';

// Each route is a constant of its own: written inside `addChildren`, all types of the tree become `any` without a word.
const now = createRoute({ getParentRoute: () => root, path: '/', component: NowPage });
const routers = createRoute({ getParentRoute: () => root, path: '/routers', component: RoutersPage, validateSearch: readSearch });
const router = createRoute({ getParentRoute: () => root, path: '/routers/$routerId', component: RouterPage });

/** What the team has, and how it is. */
export const fleetRoutes = [now, routers, router] as const;
