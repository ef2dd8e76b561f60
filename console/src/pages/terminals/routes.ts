import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root, searchBy } from '../../root-route.ts';
import { readTerminalsSearch } from './search.ts';

const terminals = createRoute({
  getParentRoute: () => root,
  path: '/terminals',
  validateSearch: searchBy(readTerminalsSearch),
  component: lazyRouteComponent(() => import('./terminals-page.tsx'), 'TerminalsPage'),
});
const recording = createRoute({
  getParentRoute: () => root,
  path: '/terminals/$terminalId',
  component: lazyRouteComponent(() => import('./recording-page.tsx'), 'RecordingPage'),
});
const terminal = createRoute({
  getParentRoute: () => root,
  path: '/routers/$routerId/terminal',
  component: lazyRouteComponent(() => import('./terminal-page.tsx'), 'TerminalPage'),
});

/** Shells of routers, and their recordings. */
export const terminalRoutes = [terminals, recording, terminal] as const;
