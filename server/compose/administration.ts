import { agentRoutes } from '../fleet/agents/routes.ts';
import { auditRoutes } from '../access/audit/routes.ts';
import type { AuditService } from '../access/audit/service.ts';
import { apiKeyRoutes } from '../access/keys/routes.ts';
import type { AuthService } from '../access/keys/service.ts';
import type { AgentGateway } from '../platform/core/agent-gateway.ts';
import type { Clock } from '../platform/core/clock.ts';
import type { Counters } from '../platform/core/counters.ts';
import type { App } from '../platform/http/app.ts';
import type { IdentityService } from '../access/identity/service.ts';
import { groupRoutes } from '../outbound/notifications/groups/routes.ts';
import { GroupsService } from '../outbound/notifications/groups/service.ts';
import { scheduleRoutes } from '../outbound/notifications/schedules/routes.ts';
import { SchedulesService } from '../outbound/notifications/schedules/service.ts';
import { topicRoutes } from '../outbound/notifications/topics/routes.ts';
import { TopicsService } from '../outbound/notifications/topics/service.ts';
import { PlacesService } from '../fleet/sites/service.ts';
import type { RemovalsService } from '../fleet/removals/service.ts';
import type { RevocationsService } from '../access/revocations/service.ts';
import type { Storage } from '../platform/storage/db.ts';
import { InvitationsService } from '../access/teams/invitations/service.ts';
import { PasswordLinksService } from '../access/teams/password-links/service.ts';
import { teamRoutes } from '../access/teams/routes.ts';
import { TeamsService } from '../access/teams/service.ts';

/** What a team sets up once and changes seldom: its people, places, keys and who is told about what. */
export interface AdministrationServices {
  teams: TeamsService;
  invitations: InvitationsService;
  passwordLinks: PasswordLinksService;
  places: PlacesService;
  groups: GroupsService;
  topics: TopicsService;
  schedules: SchedulesService;
}

export function createAdministration({ storage, clock, counters }: { storage: Storage; clock: Clock; counters: Counters }): AdministrationServices {
  const deps = { storage, clock, counters };
  return {
    teams: new TeamsService(deps),
    invitations: new InvitationsService(deps),
    passwordLinks: new PasswordLinksService(deps),
    places: new PlacesService(deps),
    groups: new GroupsService(deps),
    topics: new TopicsService(deps),
    schedules: new SchedulesService(deps),
  };
}

interface AdministrationDeps extends AdministrationServices {
  auth: AuthService;
  audit: AuditService;
  tunnels: AgentGateway;
  revocations: Pick<RevocationsService, 'settle'>;
  identity: Pick<IdentityService, 'baseUrl'>;
  removals: Pick<RemovalsService, 'removeAgent'>;
}

/** @param scope one in which the caller is known and limited */
export function administrationRoutes(scope: App, services: AdministrationDeps, now: () => number): void {
  teamRoutes(scope, { ...services, baseUrl: () => services.identity.baseUrl });
  const onRevoked = (teamId: string): Promise<void> => services.revocations.settle(teamId);
  apiKeyRoutes(scope, { auth: services.auth, now, onRevoked });
  agentRoutes(scope, {
    auth: services.auth,
    gateway: services.tunnels,
    places: services.places,
    removals: services.removals,
    onRevoked,
  });
  auditRoutes(scope, services);
  groupRoutes(scope, { groups: services.groups, now });
  topicRoutes(scope, services);
  scheduleRoutes(scope, { schedules: services.schedules, now });
}
