import type { CampaignsService } from '../../work/campaigns/service.ts';
import type { CampaignChange, CampaignView } from '../../work/campaigns/types.ts';
import type { SharedLog } from '../../platform/bus/shared-log.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { ForwardTraffic } from './forward-traffic.ts';
import { NotificationChanges } from './notification-changes.ts';
import { PlacedEvents } from './placed.ts';
import { PresenceChanges } from './presence-changes.ts';
import type { KnownRouter } from './presence-changes.ts';
import { RouterFacts } from './router-facts.ts';
import type { EventsService } from './service.ts';
import { insertKept, takeKept } from './store.ts';
import type { KeptStream } from './types.ts';
import type { FaultEvent } from '../../fleet/faults/types.ts';
import type { BackupChange, ConfigChange } from '../../work/backups/types.ts';
import type { BackupsService } from '../../work/backups/service.ts';
import type { SettingChange, SilenceChange } from '../notifications/types.ts';
import type { ForwardChange } from '../../work/forwards/types.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import { statusOf } from '../../work/jobs/service.ts';
import type { GuardChange, JobRecord } from '../../work/jobs/types.ts';
import type { RemovalChange } from '../../fleet/removals/types.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { TerminalChange } from '../../work/terminals/types.ts';
import type { TerminalsService } from '../../work/terminals/service.ts';
import type { SessionsService } from '../../fleet/sessions/service.ts';
import type { SitesService } from '../../fleet/sites/service.ts';
import type { AgentUpdate, SiteEvent } from '../../fleet/sites/types.ts';
import type { LineChange } from '../../fleet/sessions/types.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { StateChange } from '../../fleet/states/types.ts';
import type { MoveChange, RouterRecord } from '../../fleet/routers/types.ts';
import type { Storage } from '../../platform/storage/db.ts';

/** How often to check for silent routers: at least once a second, so that the event comes when the router list shows the change. */
const LONGEST_SWEEP_MS = 1000;

export interface EventSourcesDeps {
  events: EventsService;
  routers: RoutersService;
  storage: Storage;
  clock: Clock;
  log: Log;
  offlineAfterMs: number;
  /** Set where several control planes publish events. */
  shared?: SharedEvents | undefined;
}

export interface SharedEvents {
  log: Pick<SharedLog, 'start' | 'stop'>;
  /** Whether this control plane publishes what time alone changes of the routers of this agent. */
  watches: (agentId: string) => boolean;
}

/** Who is told of what, when and where. */
interface Settings {
  changes: Listeners<SettingChange>;
}

/** Features whose changes become events. */
interface Sources {
  jobs: Pick<JobsService, 'changes' | 'guardChanges'>;
  campaigns: Pick<CampaignsService, 'changes' | 'progress'>;
  sessions: Pick<SessionsService, 'changes'>;
  sites: Pick<SitesService, 'moves' | 'changes' | 'agentUpdates'>;
  states: Pick<StatesService, 'changes'>;
  forwards: Pick<ForwardsService, 'changes' | 'open'>;
  backups: Pick<BackupsService, 'changes' | 'configChanges'>;
  terminals: Pick<TerminalsService, 'changes'>;
  /** Of notifications. */
  threads: { changes: Listeners<{ teamId: string }> };
  messages: { changes: Listeners<{ teamId: string }> };
  groups: Settings;
  topics: Settings;
  schedules: Settings;
  targets: Settings;
  silences: { changes: Listeners<SilenceChange> };
}

/** A person in a team, or as they were when they left it. */
interface MemberNow {
  userId: string;
  teamId: string;
  role: string;
  active: boolean;
}

/** Turns changes of the features into events for API users. */
export class EventSources {
  readonly #deps: EventSourcesDeps;
  readonly #presence: PresenceChanges;
  readonly #facts = new RouterFacts();
  readonly #notifications: NotificationChanges;
  #traffic: ForwardTraffic | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(deps: EventSourcesDeps) {
    const { events, routers, clock, log, offlineAfterMs, shared } = deps;
    this.#deps = deps;
    this.#notifications = new NotificationChanges(clock, (teamId) => events.publish({ teamId, type: 'notification.changed', data: {} }));
    this.#presence = new PresenceChanges({
      clock,
      log,
      answersUntil: (id) => routers.presence.answersUntil(id),
      onChange: ({ id, team_id: teamId, identity }, online) =>
        events.publish({ teamId, type: online ? 'router.online' : 'router.offline', data: { router_id: id, identity } }),
      sweepMs: Math.min(LONGEST_SWEEP_MS, offlineAfterMs / 5),
      watches: shared?.watches,
    });
    if (!shared) return;
    const placed = new PlacedEvents({ presence: this.#presence, facts: this.#facts, notifications: this.#notifications });
    events.placed.subscribe((event) => placed.onPlaced(event));
    events.losses.subscribe(() => this.#presence.forgetSaid());
  }

  /** Call before these features start. */
  listenTo(sources: Sources): void {
    const { jobs, campaigns, forwards, terminals, backups, sessions, sites, states, threads, messages } = sources;
    const { events } = this.#deps;
    this.#traffic = new ForwardTraffic({ ...this.#deps, forwards });
    this.#unsubscribe = [
      jobs.changes.subscribe((job) => this.#job(job)),
      jobs.guardChanges.subscribe((change) => this.#guard(change)),
      campaigns.changes.subscribe((change) => this.#campaign(change)),
      campaigns.progress.subscribe((view) => this.#progress(view)),
      forwards.changes.subscribe((change) => this.#forward(change)),
      terminals.changes.subscribe((change) => this.#terminal(change)),
      backups.changes.subscribe((change) => this.#backup(change)),
      backups.configChanges.subscribe((change) => this.#config(change)),
      sessions.changes.subscribe((change) => this.#line(change)),
      sites.moves.subscribe(({ teamId, routerId, siteId }) => this.#updated(teamId, routerId, { site_id: siteId })),
      sites.changes.subscribe((change) => this.#site(change)),
      sites.agentUpdates.subscribe((update) => this.#agent(update)),
      states.changes.subscribe((change) => this.#state(change)),
      threads.changes.subscribe(({ teamId }) => this.#notifications.note(teamId)),
      messages.changes.subscribe(({ teamId }) => this.#notifications.note(teamId)),
      sources.groups.changes.subscribe((change) => this.#setting('group', change)),
      sources.topics.changes.subscribe((change) => this.#setting('topic', change)),
      sources.schedules.changes.subscribe((change) => this.#setting('schedule', change)),
      sources.targets.changes.subscribe((change) => this.#setting('target', change)),
      sources.silences.changes.subscribe(({ kind, teamId, id }) =>
        events.publish({ teamId, type: `silence.${kind}`, data: { silence_id: id } }),
      ),
    ];
  }

  /** Call when the routers have been loaded. */
  async start(): Promise<void> {
    const kept = await this.#takeKept();
    this.#deps.events.restore(kept);
    await this.#deps.shared?.log.start();
    const routers = await this.#deps.routers.listEveryRouter();
    this.#facts.load(routers);
    this.#presence.start(routers, lastPublished(kept));
    this.#deps.events.start();
    this.#traffic?.start();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#notifications.stop();
    await this.#traffic?.stop();
    await this.#presence.stop();
    await this.#deps.events.stop();
    const { shared } = this.#deps;
    await (shared ? shared.log.stop() : this.#keep());
  }

  /** What one of several control planes had kept would be too old for the next that serves alone. */
  async #takeKept(): Promise<KeptStream[]> {
    const kept = await this.#deps.storage.writes.write(takeKept);
    return this.#deps.shared ? [] : kept;
  }

  /** Never rejects: without the stored state readers get a resync. */
  async #keep(): Promise<void> {
    const { events, storage, log } = this.#deps;
    const { online } = this.#presence;
    const streams = events.kept.map((stream) => ({ ...stream, online: online.get(stream.teamId) ?? [] }));
    await storage.writes
      .write((tx) => insertKept(tx, streams))
      .catch((error: unknown) => log.warn({ err: error }, 'the latest events could not be stored'));
  }

  onInventory(router: RouterRecord): void {
    const { id, team_id, identity, agent_id } = router;
    this.#presence.onInventory({ id, team_id, identity, agent_id });
    const facts = this.#facts.note(router);
    if (facts) this.#updated(router.team_id, router.id, { ...facts });
  }

  onHeartbeat({ agentId }: AgentConnection, names: readonly string[]): void {
    for (const name of names) {
      const routerId = this.#deps.routers.routerIdOf(agentId, name);
      if (routerId !== undefined) this.#presence.check(routerId);
    }
  }

  onMove({ kind, teamId, router, agentId, ownerId, reason }: MoveChange): void {
    const data = { router_id: router.id, identity: router.identity, agent_id: agentId, from_agent_id: ownerId, reason };
    this.#deps.events.publish({ teamId, type: kind === 'moved' ? 'router.moved' : 'router.move_requested', data });
    // What its new agent said of it before counts from now on.
    this.#presence.check(router.id);
  }

  onRemoval(change: RemovalChange): void {
    const { id, team_id: teamId, identity, serial_number: serialNumber, hardware_id: hardwareId } = change.router;
    const data = { router_id: id, identity, serial_number: serialNumber, hardware_id: hardwareId };
    if (change.kind === 'removed') {
      this.#presence.forget(id);
      this.#facts.forget(id);
      this.#deps.events.publish({ teamId, type: 'router.removed', data });
      return;
    }
    this.#presence.forget(change.mergedId);
    this.#facts.forget(change.mergedId);
    const former = {
      merged_router_id: change.mergedId,
      former_serial_number: change.formerSerialNumber,
      former_hardware_id: change.formerHardwareId,
    };
    this.#deps.events.publish({ teamId, type: 'router.replaced', data: { ...data, ...former } });
    this.onInventory(change.router);
  }

  /** Another control plane has removed the router, and has told readers. */
  forgetRemoved(change: RemovalChange): void {
    const id = change.kind === 'removed' ? change.router.id : change.mergedId;
    this.#presence.forget(id);
    this.#facts.forget(id);
  }

  onFault({ kind, fault }: FaultEvent): void {
    const { id, team_id: teamId, router_id, type, severity, message, cause } = fault;
    const event = kind === 'resolved' ? 'fault.resolved' : 'fault.opened';
    const occurrences = fault.occurrences;
    this.#deps.events.publish({ teamId, type: event, data: { fault_id: id, router_id, type, severity, message, cause, occurrences } });
  }

  /** @param changed fields of the router as the interface shows them */
  #updated(teamId: string, routerId: string, changed: Record<string, unknown>): void {
    this.#deps.events.publish({ teamId, type: 'router.updated', data: { router_id: routerId, ...changed } });
  }

  #job(job: JobRecord): void {
    const status = statusOf(job);
    const { id, team_id: teamId, router_id, phase, reason, error, description, idempotency_key } = job;
    const data = { job_id: id, router_id, status, phase, reason, error, description, idempotency_key };
    if (status === 'failed' && reason === 'rolled_back') this.#deps.events.publish({ teamId, type: 'job.rolled_back', data });
    this.#deps.events.publish({ teamId, type: `job.${status}`, data });
  }

  #guard({ kind, job }: GuardChange): void {
    const { id, team_id: teamId, router_id, guard_fires_at: firesAt, description } = job;
    const data = { job_id: id, router_id, description, fires_at: firesAt === null ? null : new Date(firesAt).toISOString() };
    this.#deps.events.publish({ teamId, type: `job.guard_${kind}`, data });
  }

  #campaign({ kind, campaign }: CampaignChange): void {
    const { id, team_id: teamId, state, stop_reason, stop_message, description, target_count } = campaign;
    const data = { campaign_id: id, state, stop_reason, stop_message, description, target_count };
    this.#deps.events.publish({ teamId, type: `campaign.${kind}`, data });
  }

  #progress({ campaign, counts, canaries }: CampaignView): void {
    const { id, team_id: teamId, state, target_count } = campaign;
    this.#deps.events.publish({ teamId, type: 'campaign.progress', data: { campaign_id: id, state, canaries, counts, target_count } });
  }

  onEnrolment({ teamId, agentId, name, replaced }: { teamId: string; agentId: string; name: string; replaced: boolean }): void {
    this.#deps.events.publish({ teamId, type: 'agent.enrolled', data: { agent_id: agentId, name, replaced } });
  }

  onMember(kind: 'joined' | 'updated' | 'removed', { userId, teamId, role, active }: MemberNow): void {
    this.#deps.events.publish({ teamId, type: `member.${kind}`, data: { user_id: userId, role, active } });
  }

  #site({ kind, teamId, siteId, name }: SiteEvent): void {
    this.#deps.events.publish({ teamId, type: `site.${kind}`, data: { site_id: siteId, name } });
  }

  #setting(record: 'group' | 'topic' | 'schedule' | 'target', { kind, teamId, id, name }: SettingChange): void {
    this.#deps.events.publish({ teamId, type: `${record}.${kind}`, data: { [`${record}_id`]: id, name } });
  }

  #agent({ teamId, agentId, changed }: AgentUpdate): void {
    this.#deps.events.publish({ teamId, type: 'agent.updated', data: { agent_id: agentId, ...changed } });
  }

  #line({ kind, teamId, agentId, address, epoch, endedBy, since }: LineChange): void {
    const data = { agent_id: agentId, address, epoch, ended_by: endedBy, since: new Date(since).toISOString() };
    this.#deps.events.publish({ teamId, type: `agent.${kind}`, data });
  }

  #state({ teamId, routerId, identity, agentId, state, since, reason }: StateChange): void {
    const data = {
      router_id: routerId,
      identity,
      agent_id: agentId,
      state,
      state_since: new Date(since).toISOString(),
      state_reason: reason,
    };
    this.#deps.events.publish({ teamId, type: 'router.changed', data });
  }

  #backup({ backup }: BackupChange): void {
    const { id, team_id: teamId, router_id, job_id, origin, error } = backup;
    this.#deps.events.publish({ teamId, type: 'backup.stored', data: { backup_id: id, router_id, job_id, origin, error } });
  }

  #config({ from, to, lines }: ConfigChange): void {
    const { id, team_id: teamId, router_id, schedule_id } = to;
    const data = {
      router_id,
      backup_id: id,
      from_backup_id: from.id,
      schedule_id,
      lines_added: lines?.added,
      lines_removed: lines?.removed,
    };
    this.#deps.events.publish({ teamId, type: 'config.changed', data });
  }

  #terminal({ kind, terminal }: TerminalChange): void {
    const { id, team_id: teamId, router_id, level, opened_by, reason, end_reason, end_message, ended_by } = terminal;
    const end = kind === 'ended' ? { end_reason, end_message, ended_by } : {};
    this.#deps.events.publish({ teamId, type: `terminal.${kind}`, data: { terminal_id: id, router_id, level, opened_by, reason, ...end } });
  }

  #forward({ kind, forward }: ForwardChange): void {
    const { id, team_id: teamId, router_id, port, entry_point, dst_address, dst_port, allow_only_cidr, way } = forward;
    const data = { forward_id: id, router_id, port, entry_point, dst_address, dst_port, allow_only_cidr, way };
    const end = { expires_at: new Date(forward.expires_at).toISOString(), revoked_early: forward.revoked_at !== null };
    this.#deps.events.publish({ teamId, type: `forward.${kind}`, data: { ...data, ...end } });
  }
}

/** Published states of the routers before the restart; undefined for teams whose readers must resync. */
function lastPublished(kept: readonly KeptStream[]): (router: KnownRouter) => boolean | undefined {
  const online = new Map(kept.map((stream) => [stream.teamId, new Set(stream.online)]));
  return (router) => online.get(router.team_id)?.has(router.id);
}
