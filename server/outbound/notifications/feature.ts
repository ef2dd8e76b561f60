import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { groupRoutes } from './groups/routes.ts';
import type { GroupRoutesDeps } from './groups/routes.ts';
import { GroupsService } from './groups/service.ts';
import { NotificationRetention } from './retention/service.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import type { ScheduleRoutesDeps } from './schedules/routes.ts';
import { SchedulesService } from './schedules/service.ts';
import { topicRoutes } from './topics/routes.ts';
import type { TopicRoutesDeps } from './topics/routes.ts';
import { TopicsService } from './topics/service.ts';

/** Who is notified about what, and when. */
export const notifications = feature({
  create: ({ config, storage, clock }: Pick<Platform, 'config' | 'storage' | 'clock'>) => ({
    groups: new GroupsService({ storage, clock }),
    topics: new TopicsService({ storage, clock }),
    schedules: new SchedulesService({ storage, clock }),
    notificationRetention: new NotificationRetention({ storage, clock, keepMs: config.keepNotificationsMs }),
  }),
  sweep: (own) => own.notificationRetention.sweep(),
  routes: (scope, services: GroupRoutesDeps & TopicRoutesDeps & ScheduleRoutesDeps) => {
    groupRoutes(scope, services);
    topicRoutes(scope, services);
    scheduleRoutes(scope, services);
  },
});
