import type { Heartbeat } from '../../protocol/index.ts';
import type { AgentConnection, AgentEvents } from '../platform/core/agent-gateway.ts';
import type { Clock } from '../platform/core/clock.ts';
import { Counters } from '../platform/core/counters.ts';
import type { Log } from '../platform/core/log.ts';
import { sampledLog } from '../platform/core/sampled-log.ts';
import { doubtsAbout } from '../config.ts';
import type { Config } from '../config.ts';
import { createAdministration } from './administration.ts';
import type { AdministrationServices } from './administration.ts';
import { AgentSessions } from '../fleet/agents/service.ts';
import { AuditService } from '../access/audit/service.ts';
import { AuthService } from '../access/keys/service.ts';
import { BackupsService } from '../work/backups/service.ts';
import { CampaignsService } from '../work/campaigns/service.ts';
import type { CatalogService } from '../fleet/catalog/service.ts';
import { CommandsService } from '../work/commands/service.ts';
import { Manufacturers } from '../fleet/devices/manufacturers.ts';
import { DevicesService } from '../fleet/devices/service.ts';
import { truncationWords } from '../fleet/devices/truncation.ts';
import { EventSources } from './event-sources.ts';
import { EventsService } from '../outbound/events/service.ts';
import { FaultsService } from '../fleet/faults/service.ts';
import type { FaultEvent } from '../fleet/faults/types.ts';
import { ForwardsService } from '../work/forwards/service.ts';
import { proxyRule, trustedProxies } from '../platform/http/client-address.ts';
import { IGNORED_FORWARDING, IgnoredForwarding } from '../platform/http/ignored-forwarding.ts';
import { QuietConnections } from '../platform/http/quiet-connections.ts';
import { IdempotencyStore } from '../platform/idempotency/store.ts';
import { IdentityService } from '../access/identity/service.ts';
import { takeInInventory } from './inventory-intake.ts';
import { InventoryOrder } from './inventory-order.ts';
import { JobsService } from '../work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../work/jobs/types.ts';
import { Metrics } from '../operations/metrics/service.ts';
import { announceChanges } from './move-announcements.ts';
import { MetadataService } from '../fleet/metadata/service.ts';
import { announceRemoval } from './removal-announcements.ts';
import { RemovalsService } from '../fleet/removals/service.ts';
import { RetentionService } from '../operations/retention/service.ts';
import { RevocationsService } from '../access/revocations/service.ts';
import { RoutersService } from '../fleet/routers/service.ts';
import { StatusService } from '../operations/status/service.ts';
import type { UpstreamSettings } from '../access/identity/types.ts';
import type { Storage } from '../platform/storage/db.ts';
import type { Secrets } from '../platform/storage/secrets.ts';
import { TunnelRegistry } from '../platform/tunnel/registry.ts';
import { SERVER_VERSION } from '../version.ts';
import { WebhooksService } from '../outbound/webhooks/service.ts';

export interface ServicesDeps {
  config: Config;
  storage: Storage;
  clock: Clock;
  log: Log;
  /** Read from files, which takes an await. */
  catalog: CatalogService;
  /** Opened with its key file, which the first start makes. */
  secrets: Secrets;
  /** Read from its secret file. */
  upstream: UpstreamSettings | null;
}

/** Every feature of the control plane, built once, with the tunnel between them and the agents. */
export interface Services extends AdministrationServices {
  auth: AuthService;
  /** Sessions of people. */
  identity: IdentityService;
  agents: AgentSessions;
  audit: AuditService;
  routers: RoutersService;
  commands: CommandsService;
  jobs: JobsService;
  backups: BackupsService;
  campaigns: CampaignsService;
  webhooks: WebhooksService;
  forwards: ForwardsService;
  catalog: CatalogService;
  metadata: MetadataService;
  faults: FaultsService;
  devices: DevicesService;
  revocations: RevocationsService;
  removals: RemovalsService;
  /** What API users listen to. */
  events: EventsService;
  eventSources: EventSources;
  /** Forgets the oldest records of teams that have very many. */
  retention: RetentionService;
  idempotency: IdempotencyStore;
  tunnels: TunnelRegistry;
  status: StatusService;
  metrics: Metrics;
  /** Notices a proxy that is not trusted. */
  ignoredForwarding: IgnoredForwarding;
  quietConnections: QuietConnections;
}

export function createServices({ log: fullLog, ...given }: ServicesDeps): Services {
  // Almost every line of a feature is about something that an agent or a caller did, and can do again and again.
  const deps = { ...given, log: sampledLog(fullLog, given.clock) };
  const { config, storage, clock, log } = deps;
  const counters = new Counters();
  const auth = new AuthService({ storage, clock, log: log.child({ component: 'auth' }), counters });
  const agents = new AgentSessions(storage, clock);
  const audit = new AuditService({ storage, clock, log: log.child({ component: 'audit' }), counters });
  const routers = new RoutersService({
    storage,
    clock,
    log: log.child({ component: 'routers' }),
    rules: { offlineAfterMs: config.offlineAfterMs },
    moves: config.routerMoves,
    counters,
    maxPerTeam: config.maxRoutersPerTeam,
  });
  // The features need the tunnel, and what comes out of the tunnel needs the features: the events look them up late.
  const features = (): Features => ({ routers, jobs, backups, forwards, metadata, faults, devices, eventSources });
  const tunnels = new TunnelRegistry({
    callbacks: {
      authenticateAgent: (bearer) => auth.authenticateAgent(bearer),
      beginSession: (begin) => agents.begin(begin),
      confirmSession: (agentId, epoch, journalId) => agents.confirm(agentId, epoch, journalId),
      endSession: (agentId, epoch) => agents.end(agentId, epoch),
      events: wireEvents(features),
    },
    clock,
    log: log.child({ component: 'tunnel' }),
    settings: { heartbeatMs: config.heartbeatMs },
    counters,
  });
  const commands = new CommandsService({ routers, gateway: tunnels });
  const jobs = new JobsService({
    storage,
    gateway: tunnels,
    routers,
    clock,
    log: log.child({ component: 'jobs' }),
    rules: { ...DEFAULT_JOB_RULES, keepMs: config.keepJobsMs },
    notifyUrls: { allowLoopback: config.allowLoopbackWebhooks },
    counters,
  });
  const backups = new BackupsService({ ...deps, counters, log: log.child({ component: 'backups' }), gateway: tunnels, routers, jobs });
  const campaigns = new CampaignsService({ storage, jobs, clock, log: log.child({ component: 'campaigns' }), counters });
  const forwards = new ForwardsService({
    storage,
    routers,
    gateway: tunnels,
    clock,
    log: log.child({ component: 'forwards' }),
    counters,
    settings: {
      host: config.forwards.host,
      listen: config.forwards.listen,
      ports: { from: config.forwards.ports.first, to: config.forwards.ports.last },
      allowPrivateSources: config.allowPrivateSources,
      idleSeconds: config.forwards.idleSeconds,
      isProxy: config.forwards.proxies.length > 0 ? trustedProxies(config.forwards.proxies) : undefined,
      names: config.forwards.names ?? undefined,
    },
  });
  const events = new EventsService(clock);
  const eventSources = new EventSources({ events, routers, jobs, campaigns, forwards, storage, clock, log: log.child({ component: 'events' }), offlineAfterMs: config.offlineAfterMs });
  const { metadata, faults, devices } = createInformation({ ...deps, counters }, routers, (event) => eventSources.onFault(event));
  const idempotency = new IdempotencyStore(storage, deps.secrets, () => clock.now(), counters);
  const revocations = new RevocationsService({ storage, clock, log: log.child({ component: 'revocations' }), auth, forwards, jobs, campaigns, gateway: tunnels });
  revocations.noticed.subscribe(({ teamId }) => void events.recheck(teamId));
  announceChanges({ routers, faults, forwards, audit, eventSources, tunnels });
  const removals = createRemovals(deps, { routers, jobs, forwards, faults, devices, metadata, eventSources });
  const { status, ignoredForwarding } = createStatus(deps, () => tunnels.size);
  const quietConnections = new QuietConnections({ isTrusted: proxyRule(deps.config.trustProxy), counters });
  const metrics = new Metrics(status, counters);
  const webhooks = createWebhooks(deps, jobs);
  watchShares(metrics, { devices, jobs, backups, campaigns, webhooks, events, forwards, faults });
  const administration = createAdministration({ ...deps, counters });
  administration.teams.losses.subscribe(({ teamId }) => void revocations.settle(teamId));
  const identity = new IdentityService({ ...deps, ...administration, counters, log: log.child({ component: 'identity' }), audit });
  return { ...administration, status, metrics, ignoredForwarding, quietConnections, auth, identity, agents, audit, routers, commands, jobs, backups, campaigns, webhooks, forwards, catalog: deps.catalog, metadata, faults, devices, events, eventSources, revocations, removals, retention: new RetentionService({ storage, clock, counters }), idempotency, tunnels };
}

/** @param of the features that share something out, by their names in docs/shared-resources.md */
function watchShares(metrics: Metrics, of: Pick<Services, 'devices' | 'jobs' | 'backups' | 'campaigns' | 'webhooks' | 'events' | 'forwards' | 'faults'>): void {
  metrics.show('signalbox_devices_truncated', 'Routers that have more devices than are kept', () => of.devices.truncated);
  metrics.watch('job_offers', of.jobs.offers);
  metrics.watch('backup_fetches', of.backups.fetches);
  metrics.watch('campaign_rounds', of.campaigns.rounds);
  metrics.watch('webhook_attempts', of.webhooks.attempts);
  metrics.watch('event_streams', of.events.shares);
  metrics.watch('forward_ports', of.forwards.portsUse);
  metrics.watch('fault_changes', of.faults.waiting);
}

function createRemovals({ storage, clock }: ServicesDeps, features: Omit<Features, 'backups'>): RemovalsService {
  const removals = new RemovalsService({ storage, clock, ...features });
  removals.changes.subscribe((change) => announceRemoval(change, features));
  return removals;
}

/** How this process is doing, and what its operator should change. */
function createStatus({ config, storage, clock, log }: ServicesDeps, countAgents: () => number): Pick<Services, 'status' | 'ignoredForwarding'> {
  const ignoredForwarding = new IgnoredForwarding({ isTrusted: proxyRule(config.trustProxy), monotonic: () => clock.monotonic(), log });
  const warnings = (): string[] => [...doubtsAbout(config), ...(ignoredForwarding.count > 0 ? [IGNORED_FORWARDING] : [])];
  const countIgnoredForwarding = (): number => ignoredForwarding.count;
  return { status: new StatusService({ storage, clock, version: SERVER_VERSION, countAgents, countIgnoredForwarding, warnings }), ignoredForwarding };
}

function createWebhooks({ config, storage, clock, log, secrets }: ServicesDeps, jobs: JobsService): WebhooksService {
  const targets = { allowLoopback: config.allowLoopbackWebhooks };
  return new WebhooksService({ storage, clock, log: log.child({ component: 'webhooks' }), jobs, secrets, targets });
}

/** What is known of the routers beyond their list. */
function createInformation(
  { config, storage, clock, log, catalog, counters }: ServicesDeps & { counters: Counters },
  routers: RoutersService,
  onFault: (event: FaultEvent) => void,
): Pick<Services, 'metadata' | 'faults' | 'devices'> {
  const faults = new FaultsService({
    storage,
    clock,
    log: log.child({ component: 'faults' }),
    routers,
    onFault,
    counters,
    testedAmbience: (router) => catalog.describe({ model: router.model, boardName: router.board_name }).tested_ambient_temperature,
    rules: { heartbeatMs: config.heartbeatMs, offlineAfterMs: config.offlineAfterMs },
  });
  return {
    metadata: new MetadataService({ storage, clock, log: log.child({ component: 'metadata' }), routers, catalog }),
    faults,
    devices: new DevicesService({
      storage,
      clock,
      log: log.child({ component: 'devices' }),
      routers,
      manufacturers: new Manufacturers(),
      onTotal: (routerId, total) => faults.setCondition(routerId, 'devices_truncated', truncationWords(total)),
      counters,
    }),
  };
}

type Features = Pick<Services, 'routers' | 'jobs' | 'backups' | 'forwards' | 'metadata' | 'faults' | 'devices' | 'eventSources'>;

/** What agents say, to whom it matters, in this order: who the routers are comes before what is to be done on them. */
function wireEvents(features: () => Features): AgentEvents {
  const order = new InventoryOrder();
  const heard = (connection: AgentConnection, heartbeat: Heartbeat): void => {
    features().routers.onHeartbeat(connection, heartbeat);
    features().eventSources.onHeartbeat(connection, heartbeat.routers.map(({ name }) => name));
    features().faults.onHeartbeat(connection, heartbeat);
    features().jobs.onHeartbeat(connection, heartbeat);
  };
  return {
    async onReady(connection, jobs) {
      await features().routers.onReady(connection);
      features().metadata.onReady(connection);
      features().faults.onReady(connection);
      await features().jobs.onReady(connection, jobs);
      features().backups.onReady(connection);
      features().forwards.onReady(connection);
    },
    onGone(connection) {
      order.forget(connection.agentId);
      features().devices.onGone(connection);
      features().faults.onGone(connection);
      features().metadata.onGone(connection);
      features().routers.onGone(connection);
      features().jobs.onGone(connection);
    },
    onHeartbeat(connection, heartbeat) {
      const { agentId } = connection;
      for (const beat of heartbeat.routers.filter(({ name }) => order.isWaiting(agentId, name))) {
        order.run(agentId, beat.name, 'heartbeat', () => heard(connection, { ...heartbeat, routers: [beat] }));
      }
      heard(connection, { ...heartbeat, routers: heartbeat.routers.filter(({ name }) => !order.isWaiting(agentId, name)) });
    },
    onInventoryArrived: (connection, name) => order.arrived(connection.agentId, name),
    async onInventory(connection: AgentConnection, inventory) {
      try {
        await takeInInventory(connection, inventory, features());
      } finally {
        order.stored(connection.agentId, inventory.router);
      }
    },
    onHealth(connection, health) {
      order.run(connection.agentId, health.router, 'health', () => {
        features().faults.onHealth(connection, health);
        features().metadata.onHealth(connection, health);
      });
    },
    onDevices: (connection, devices) => features().devices.onDevices(connection, devices),
    onJobAccepted: (connection, jobId) => features().jobs.onJobAccepted(connection, jobId),
    onJobDeclined: (connection, declined) => features().jobs.onJobDeclined(connection, declined),
    onJobBegan: (connection, jobId) => features().jobs.onJobBegan(connection, jobId),
    onJobEnded: (connection, jobId, result) => features().jobs.onJobEnded(connection, jobId, result),
    onJobRefused: (connection, jobId) => features().jobs.onJobRefused(connection, jobId),
    onForwardLost: (connection, forwardId, reason) => features().forwards.onForwardLost(connection, forwardId, reason),
  };
}
