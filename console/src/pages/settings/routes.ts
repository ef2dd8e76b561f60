import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root } from '../../root-route.ts';

// Each route is a constant of its own: written inside `addChildren`, all types of the tree become `any` without a word.
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  beforeLoad: ({ location }) => {
    if (location.pathname === '/settings') redirect({ to: '/settings/team', replace: true, throw: true });
  },
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
});
const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  component: lazyRouteComponent(() => import('./team/team-page.tsx'), 'TeamPage'),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: lazyRouteComponent(() => import('./members/members-page.tsx'), 'MembersPage'),
});
const revocations = createRoute({
  getParentRoute: () => settings,
  path: '/revocations',
  component: lazyRouteComponent(() => import('./revocations/revocations-page.tsx'), 'RevocationsPage'),
});

/** What is set up: the team, its people and programs, and what was done. */
export const settingsRoutes = [settings.addChildren([team, members, keys, revocations])] as const;
