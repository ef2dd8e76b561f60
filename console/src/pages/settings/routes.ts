import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../../parts/lazy-part.ts';
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
  component: lazyPage(() => import('./keys/keys-page.tsx'), 'KeysPage'),
});
const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  component: lazyPage(() => import('./team/team-page.tsx'), 'TeamPage'),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: lazyPage(() => import('./members/members-page.tsx'), 'MembersPage'),
});
const revocations = createRoute({
  getParentRoute: () => settings,
  path: '/revocations',
  component: lazyPage(() => import('./revocations/revocations-page.tsx'), 'RevocationsPage'),
});
const clients = createRoute({
  getParentRoute: () => settings,
  path: '/clients',
  component: lazyPage(() => import('./clients/clients-page.tsx'), 'ClientsPage'),
});
const webhook = createRoute({
  getParentRoute: () => settings,
  path: '/webhook',
  component: lazyPage(() => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
});
const enrolment = createRoute({
  getParentRoute: () => settings,
  path: '/enrolment',
  component: lazyPage(() => import('./enrolment/enrolment-page.tsx'), 'EnrolmentPage'),
});
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  component: lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  validateSearch: searchBy(readAuditSearch),
});
const nodes = createRoute({
  getParentRoute: () => settings,
  path: '/nodes',
  component: lazyPage(() => import('./nodes/nodes-page.tsx'), 'NodesPage'),
});
const me = createRoute({ getParentRoute: () => root, path: '/me', component: lazyPage(() => import('./me/me-page.tsx'), 'MePage') });
const newAgent = createRoute({
  getParentRoute: () => root,
  path: '/agents/new',
  component: lazyPage(() => import('./first/first-run.tsx'), 'FirstRun'),
});

/** What is set up: the team, its people and programs, and what was done. */
export const settingsRoutes = [
  settings.addChildren([team, members, keys, enrolment, clients, webhook, revocations, audit, nodes]),
  newAgent,
  me,
] as const;
