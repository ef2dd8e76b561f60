import type { AuditService } from '../../access/audit/service.ts';
import type { CredentialsService } from '../../access/credentials/service.ts';
import type { RevocationsService } from '../../access/revocations/service.ts';
import type { InvitationsService } from '../../access/teams/invitations/service.ts';
import type { TeamsService } from '../../access/teams/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { DevicesService } from '../../fleet/devices/service.ts';
import type { FaultsService } from '../../fleet/faults/service.ts';
import type { FaultEvent } from '../../fleet/faults/types.ts';
import type { MetadataService } from '../../fleet/metadata/service.ts';
import type { RemovalsService } from '../../fleet/removals/service.ts';
import type { ToldRouters } from '../../fleet/removals/told-routers.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { SessionsService } from '../../fleet/sessions/service.ts';
import type { SitesService } from '../../fleet/sites/service.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { EventsService } from '../../outbound/events/service.ts';
import type { EventSources } from '../../outbound/events/sources.ts';
import type { GroupsService } from '../../outbound/notifications/groups/service.ts';
import type { MessagesService } from '../../outbound/notifications/messages/service.ts';
import type { SchedulesService } from '../../outbound/notifications/schedules/service.ts';
import type { SilencesService } from '../../outbound/notifications/silences/service.ts';
import type { TargetsService } from '../../outbound/notifications/targets/service.ts';
import type { ThreadsService } from '../../outbound/notifications/threads/service.ts';
import type { TopicsService } from '../../outbound/notifications/topics/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { CampaignsService } from '../../work/campaigns/service.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { BackupsService } from '../../work/backups/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { TerminalsService } from '../../work/terminals/service.ts';
import { announceMoves, followMove } from './move-announcements.ts';
import { announceRemoval, silently } from './removal-announcements.ts';
import { hearOfWork } from './work-elsewhere.ts';

interface Needs extends Pick<Platform, 'cluster'> {
  audit: AuditService;
  backups: BackupsService;
  campaigns: CampaignsService;
  credentials: CredentialsService;
  devices: DevicesService;
  events: EventsService;
  eventSources: EventSources;
  faultEvents: Listeners<FaultEvent>;
  faults: FaultsService;
  connectEndpoint: { recheck(teamId: string): Promise<void> };
  forwards: ForwardsService;
  groups: GroupsService;
  invitations: InvitationsService;
  jobs: JobsService;
  messages: MessagesService;
  metadata: MetadataService;
  removals: RemovalsService;
  toldRouters: ToldRouters | null;
  revocations: RevocationsService;
  routers: RoutersService;
  schedules: SchedulesService;
  sessions: SessionsService;
  silences: SilencesService;
  sites: SitesService;
  states: StatesService;
  targets: TargetsService;
  teams: TeamsService;
  terminals: TerminalsService;
  threads: ThreadsService;
  topics: TopicsService;
  gateway: AgentGateway;
}

/** Connects changes of features to later features, and to features that must not depend on each other. */
export const announcements = feature({
  create: (services: Needs) => {
    const { credentials, teams, invitations, revocations, events, connectEndpoint, faultEvents, eventSources, removals } = services;
    eventSources.listenTo(services);
    credentials.enrolments.subscribe((enrolment) => eventSources.onEnrolment(enrolment));
    faultEvents.subscribe((event) => eventSources.onFault(event));
    announceMoves(services);
    removals.changes.subscribe((change) => announceRemoval(change, services));
    services.toldRouters?.removed.subscribe((change) => announceRemoval(change, { ...services, eventSources: silently(eventSources) }));
    services.toldRouters?.moved.subscribe((change) => followMove(change, services));
    teams.changes.subscribe(({ kind, member }) => eventSources.onMember(kind, member));
    invitations.accepted.subscribe((member) => eventSources.onMember('joined', member));
    teams.losses.subscribe(({ teamId }) => void revocations.enforce(teamId));
    revocations.revoked.subscribe(({ teamId }) => {
      void events.recheck(teamId);
      void connectEndpoint.recheck(teamId);
    });
    if (services.cluster) events.placed.subscribe((event) => hearOfWork(event, services));
    return {};
  },
});
