import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../parts/lazy-part.ts';
import { root, searchBy } from '../../root-route.ts';
import { readTerminalsSearch } from './search.ts';

const terminals = createRoute({
  getParentRoute: () => root,
  path: '/terminals',
  validateSearch: searchBy(readTerminalsSearch),
  component: lazyPage(() => import('./terminals-page.tsx'), 'TerminalsPage'),
});
const recording = createRoute({
  getParentRoute: () => root,
  path: '/terminals/$terminalId',
  component: lazyPage(() => import('./recording-page.tsx'), 'RecordingPage'),
});
const terminal = createRoute({
  getParentRoute: () => root,
  path: '/routers/$routerId/terminal',
  component: lazyPage(() => import('./terminal-page.tsx'), 'TerminalPage'),
});

/** Shells of routers, and their recordings. */
export const terminalRoutes = [terminals, recording, terminal] as const;
