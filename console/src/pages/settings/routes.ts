import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root, searchBy } from '../../root-route.ts';
import { readAuditSearch } from './audit/search.ts';

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
const clients = createRoute({
  getParentRoute: () => settings,
  path: '/clients',
  component: lazyRouteComponent(() => import('./clients/clients-page.tsx'), 'ClientsPage'),
});
const webhook = createRoute({
  getParentRoute: () => settings,
  path: '/webhook',
  component: lazyRouteComponent(() => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
});
const enrolment = createRoute({
  getParentRoute: () => settings,
  path: '/enrolment',
  component: lazyRouteComponent(() => import('./enrolment/enrolment-page.tsx'), 'EnrolmentPage'),
});
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  validateSearch: searchBy(readAuditSearch),
});
const nodes = createRoute({
  getParentRoute: () => settings,
  path: '/nodes',
  component: lazyRouteComponent(() => import('./nodes/nodes-page.tsx'), 'NodesPage'),
});
const me = createRoute({
  getParentRoute: () => root,
  path: '/me',
  component: lazyRouteComponent(() => import('./me/me-page.tsx'), 'MePage'),
});
const newAgent = createRoute({
  getParentRoute: () => root,
  path: '/agents/new',
  component: lazyRouteComponent(() => import('./first/first-run.tsx'), 'FirstRun'),
});

/** What is set up: the team, its people and programs, and what was done. */
export const settingsRoutes = [
  settings.addChildren([team, members, keys, enrolment, clients, webhook, revocations, audit, nodes]),
  newAgent,
  me,
] as const;
