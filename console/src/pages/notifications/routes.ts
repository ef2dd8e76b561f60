import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../../parts/lazy-part.ts';
import { root, searchBy } from '../../root-route.ts';
import { readExplainSearch, readLogSearch, readThreadsSearch } from './log/search.ts';
import { readSilencesSearch } from './silences/search.ts';

const notifications = createRoute({
  getParentRoute: () => root,
  path: '/notifications',
  beforeLoad: ({ location }) => {
    if (location.pathname === '/notifications') redirect({ to: '/notifications/groups', replace: true, throw: true });
  },
});
const groups = createRoute({
  getParentRoute: () => notifications,
  path: '/groups',
  component: lazyPage(() => import('./groups/groups-page.tsx'), 'GroupsPage'),
});
const group = createRoute({
  getParentRoute: () => notifications,
  path: '/groups/$groupId',
  component: lazyPage(() => import('./groups/group-page.tsx'), 'GroupPage'),
});
const channels = createRoute({
  getParentRoute: () => notifications,
  path: '/channels',
  component: lazyPage(() => import('./channels/channels-page.tsx'), 'ChannelsPage'),
});
const topics = createRoute({
  getParentRoute: () => notifications,
  path: '/topics',
  component: lazyPage(() => import('./topics/topics-page.tsx'), 'TopicsPage'),
});
const schedules = createRoute({
  getParentRoute: () => notifications,
  path: '/schedules',
  component: lazyPage(() => import('./schedules/schedules-page.tsx'), 'SchedulesPage'),
});
const silences = createRoute({
  getParentRoute: () => notifications,
  path: '/silences',
  component: lazyPage(() => import('./silences/silences-page.tsx'), 'SilencesPage'),
  validateSearch: searchBy(readSilencesSearch),
});

const threads = createRoute({
  getParentRoute: () => notifications,
  path: '/threads',
  component: lazyPage(() => import('./log/threads-page.tsx'), 'ThreadsPage'),
  validateSearch: searchBy(readThreadsSearch),
});
const thread = createRoute({
  getParentRoute: () => notifications,
  path: '/threads/$threadId',
  component: lazyPage(() => import('./log/thread-page.tsx'), 'ThreadPage'),
});
const log = createRoute({
  getParentRoute: () => notifications,
  path: '/log',
  component: lazyPage(() => import('./log/log-page.tsx'), 'LogPage'),
  validateSearch: searchBy(readLogSearch),
});
const explain = createRoute({
  getParentRoute: () => notifications,
  path: '/explain',
  component: lazyPage(() => import('./log/explain-page.tsx'), 'ExplainPage'),
  validateSearch: searchBy(readExplainSearch),
});
const own = createRoute({
  getParentRoute: () => root,
  path: '/me/notifications',
  component: lazyPage(() => import('./own/own-page.tsx'), 'OwnNotificationsPage'),
});

/** Who is told of what, where, when, and by which way. */
export const notificationRoutes = [
  notifications.addChildren([groups, group, threads, thread, log, explain, channels, topics, schedules, silences]),
  own,
] as const;
