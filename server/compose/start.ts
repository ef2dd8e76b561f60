import { uptime } from 'node:os';
import pino from 'pino';
import { administrationRoutes } from './administration.ts';
import { API_DESCRIPTION, PLANTS_DESCRIPTION } from './api-description.ts';
import { enrolmentRoutes } from '../access/keys/routes.ts';
import { campaignRoutes } from '../work/campaigns/routes.ts';
import { LONGEST_RETRY_MS } from '../work/backups/fetcher.ts';
import { backupRoutes } from '../work/backups/routes.ts';
import { catalogRoutes } from '../fleet/catalog/routes.ts';
import { loadCatalog } from '../fleet/catalog/service.ts';
import { commandRoutes } from '../work/commands/routes.ts';
import { doubtsAbout } from '../config.ts';
import type { Config } from '../config.ts';
import { connectedCaller, publicCaller } from '../access/credentials.ts';
import { systemClock } from '../platform/core/clock.ts';
import type { Clock } from '../platform/core/clock.ts';
import { AdoptedClock } from '../platform/core/adopted-clock.ts';
import type { Log } from '../platform/core/log.ts';
import { sampledLog } from '../platform/core/sampled-log.ts';
import { within } from '../platform/core/within.ts';
import { startAgainWhenBroken, waitForDatabase } from './database-wait.ts';
import { deviceRoutes } from '../fleet/devices/routes.ts';
import { eventRoutes } from '../outbound/events/routes.ts';
import { faultRoutes } from '../fleet/faults/routes.ts';
import { ForwardDoor } from '../work/forwards/connect/door.ts';
import { connectRoute, isConnectRequest } from '../work/forwards/connect/routes.ts';
import { forwardConnectionRoutes } from '../work/forwards/connections/routes.ts';
import { forwardRoutes } from '../work/forwards/routes.ts';
import type { ChannelGrant } from '../work/forwards/types.ts';
import { Admission } from '../platform/http/admission.ts';
import { admitAgents } from '../platform/http/agent-scope.ts';
import { admitRequests } from '../platform/http/admission-hook.ts';
import { createApp } from '../platform/http/app.ts';
import type { App, AppOptions } from '../platform/http/app.ts';
import { reportWrites } from '../platform/http/audit-hook.ts';
import { identifyCaller, requireCaller, requireRole } from '../platform/http/authentication.ts';
import { clientAddress, proxyRule } from '../platform/http/client-address.ts';
import { healthRoutes } from '../platform/http/health.ts';
import { SERVER_VERSION } from '../version.ts';
import { replayRepeatedPosts } from '../platform/http/idempotency.ts';
import { InFlight } from '../platform/http/in-flight.ts';
import { describeApi } from '../platform/http/openapi.ts';
import { listen } from '../platform/http/listen.ts';
import { limitRequests } from '../platform/http/rate-limit.ts';
import type { RateLimit } from '../platform/http/rate-limit.ts';
import { resolveRouterNames } from '../platform/http/router-names.ts';
import { Upgrades } from '../platform/http/upgrades.ts';
import { protectEdge } from '../platform/http/security-headers.ts';
import { admitServices } from '../platform/http/service-scope.ts';
import { accountRoutes } from '../access/identity/account/routes.ts';
import { clientRoutes } from '../access/identity/clients/routes.ts';
import { identityRoutes } from '../access/identity/routes.ts';
import { OIDC_PATH } from '../access/identity/types.ts';
import { readUpstream } from '../access/identity/upstream/settings.ts';
import { jobRoutes } from '../work/jobs/routes.ts';
import { measureRequests, metricsRoutes } from '../operations/metrics/routes.ts';
import { metadataRoutes } from '../fleet/metadata/routes.ts';
import { removalRoutes } from '../fleet/removals/routes.ts';
import { revocationRoutes } from '../access/revocations/routes.ts';
import { agentEntryRoutes } from '../fleet/routers/entries/routes.ts';
import { routerMoveRoutes } from '../fleet/routers/moves/routes.ts';
import { routerRoutes } from '../fleet/routers/routes.ts';
import { unmanagedRoutes } from '../fleet/routers/unmanaged/routes.ts';
import { describePlantError, plantRoutes } from '../operations/sandbox/routes.ts';
import { createServices } from './services.ts';
import type { Services } from './services.ts';
import { statusRoutes } from '../operations/status/routes.ts';
import type { Storage } from '../platform/storage/db.ts';
import { answers } from '../platform/storage/health.ts';
import { migrate } from '../platform/storage/migrate.ts';
import { capPlans, movePlans } from '../platform/storage/move-plans.ts';
import { openStorage } from '../platform/storage/open.ts';
import { lockForServing } from '../platform/storage/serve-lock.ts';
import { openSecretsOf } from '../platform/storage/stored-secrets.ts';
import { TlsCertificate } from '../platform/tls/certificate.ts';
import { TunnelGateway } from '../platform/tunnel/gateway.ts';
import { refuseUpgrade } from '../platform/tunnel/upgrade.ts';
import { webhookRoutes } from '../outbound/webhooks/routes.ts';
import { LONGEST_WAIT_MS } from '../outbound/webhooks/schedule.ts';

export interface ServerOverrides {
  clock?: Clock;
  log?: Log;
  /** Ends a start that waits for its database. */
  signal?: AbortSignal;
}

export interface RunningServer {
  /** Where the API listens: `http://127.0.0.1:8080`. */
  url: string;
  /** Where the plant demonstration listens; null when it is off. */
  sandboxUrl: string | null;
  services: Services;
  /** Reads the TLS certificate again, which otherwise happens within a minute. Never rejects. */
  reload(): Promise<void>;
  /** Finishes what is under way, takes nothing new, loses nothing. */
  close(): Promise<void>;
}

/** How long requests under way may still take at shutdown, milliseconds. */
const DRAIN_MS = 10_000;
/** How long agents get to hear "come back later" at shutdown, milliseconds. */
const GOODBYE_MS = 5000;
/** Of refused requests more is worth keeping than of other lines: each has an id that a caller may ask about. 100 kB a minute. */
const HTTP_LOG_BOUNDS = { perPeer: 300, perMessage: 300 };
const SWEEP_EVERY_MS = 3_600_000;

/**
 * Builds the whole control plane and starts it. A PostgreSQL server that is away, or goes away meanwhile, is waited for.
 * @throws AppError when the database or a port cannot be had
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const log = overrides.log ?? pino({ level: config.logLevel });
  const upstream = await readUpstream(config.upstream);
  return startAgainWhenBroken(() => startOnce(config, { ...overrides, log, upstream }), { config, log, signal: overrides.signal });
}

interface StartDeps extends ServerOverrides {
  log: Log;
  upstream: Awaited<ReturnType<typeof readUpstream>>;
}

async function startOnce(config: Config, { log, upstream, signal, ...overrides }: StartDeps): Promise<RunningServer> {
  // os.uptime counts on while the machine is suspended: that is no step.
  const clock = new AdoptedClock(overrides.clock ?? systemClock, overrides.clock ? undefined : () => uptime() * 1000);
  const storage = await openStorage(config.databaseUrl, { log });
  const closers: (() => Promise<void>)[] = [() => storage.close()];
  const close = closeOnce(closers, log);
  try {
    const unlock = lockForServing(config.databaseUrl);
    closers.unshift(async () => unlock());
    const tls = config.tls ? await TlsCertificate.open(config.tls, { clock, log }) : undefined;
    if (tls) closers.push(() => tls.stop());
    const room = await waitForDatabase({ config, storage, log, appOptions: appOptions({ config, tls, clock, log }), signal });
    if (room) closers.push(() => room.close());
    await migrate(storage);
    const longestMs = { jobEvent: LONGEST_WAIT_MS, backup: LONGEST_RETRY_MS };
    await storage.writes.write((tx) => capPlans(tx, clock.now(), longestMs));
    const secrets = await openSecretsOf(storage, config.secretKeyFile);
    const services = createServices({ config, storage, clock, log, catalog: await loadCatalog(config.catalog), secrets, upstream });
    clock.follow((stepMs, now) => storage.writes.write((tx) => movePlans(tx, stepMs, now)), log);
    closers.push(() => clock.stop());
    await startServices(services, closers);
    closers.push(sweepHourly(services, clock, log));
    const admission = new Admission();
    const app = await createApi({ admission, config, tls, clock, log, storage, services });
    closers.push(() => app.close());
    await room?.close();
    const url = await listen(app, room?.listen ?? config.listen, services.quietConnections);
    await services.identity.start(baseUrlOf(config, url));
    closers.push(() => services.identity.stop());
    const sandboxUrl = await startSandbox({ admission, config, tls, clock, log, services }, closers);
    for (const reason of doubtsAbout(config)) log.warn({ reason }, 'the configuration may be incomplete');
    log.info({ source: url }, 'control plane is listening');
    const reload = async (): Promise<void> => tls?.read();
    return { url, sandboxUrl, services, reload, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Last opened, first closed: HTTP and agents first, then what is in memory is written. */
function closeOnce(closers: (() => Promise<void>)[], log: Log): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const closer of closers.reverse()) {
      await closer().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
    }
  };
  return () => (closing ??= run());
}

async function startServices(services: Services, closers: (() => Promise<void>)[]): Promise<void> {
  closers.push(() => services.audit.stop(), () => services.auth.stop());
  await services.idempotency.markInterrupted();
  await services.routers.start();
  closers.push(() => services.routers.stop());
  await services.eventSources.start();
  closers.push(() => services.eventSources.stop());
  await services.faults.start();
  closers.push(() => services.faults.stop());
  services.devices.start();
  closers.push(() => services.devices.stop());
  services.jobs.start();
  closers.push(() => services.jobs.stop());
  services.backups.start();
  closers.push(() => services.backups.stop());
  services.campaigns.start();
  closers.push(() => services.campaigns.stop());
  services.revocations.start();
  closers.push(() => services.revocations.stop());
  services.webhooks.start();
  closers.push(() => services.webhooks.stop());
  // Before the start: of one that fails some ports may be open.
  closers.push(() => services.forwards.stop());
  await services.forwards.start();
}

/** A port that the system chooses is only known now. */
function baseUrlOf({ publicUrl }: Config, url: string): string {
  return new URL(publicUrl).port === '0' ? url : publicUrl;
}

interface ApiDeps {
  /** One queue for all doors of the process. */
  admission: Admission;
  config: Config;
  tls: TlsCertificate | undefined;
  clock: Clock;
  log: Log;
  services: Services;
}

async function createApi(deps: ApiDeps & { storage: Storage }): Promise<App> {
  const { config, clock, services, storage } = deps;
  const app = createApp(appOptions(deps));
  deps.tls?.keepRenewed(app.server);
  admitRequests(app, deps.admission);
  services.ignoredForwarding.watch(app.server);
  const upgrades = new Upgrades();
  const door = new ForwardDoor(clock);
  services.revocations.noticed.subscribe(({ teamId }) => void door.recheck(teamId));
  closeTunnelsLast(app, attachGateway(app, upgrades, deps), door, services);
  await protectEdge(app, { corsOrigins: config.corsOrigins });
  measureRequests(app, services.metrics);
  await describeApi(app, {
    ...API_DESCRIPTION,
    serverUrl: config.publicUrl,
    discoveryUrl: `${config.publicUrl}${OIDC_PATH}/.well-known/openid-configuration`,
    // `PUT /{group}` has no prefix.
    prefixes: ['/api', '/arp', '/:group'],
  });
  healthRoutes(app, { version: SERVER_VERSION, isReady: () => answers(storage) });
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'));
  await app.register(async (instance) => {
    const scope = instance as App;
    identifyCaller(scope, async () => undefined);
    await limitRequests(scope, rateLimitOf(deps));
    enrolmentRoutes(scope, { ...services, onReplaced: (teamId, agentId) => cutReplaced({ ...services, log: deps.log }, teamId, agentId) });
  });
  await app.register(async (instance) => {
    const scope = instance as App;
    await admitAgents(scope, (bearer) => services.auth.authenticateAgent(bearer), rateLimitOf(deps));
    unmanagedRoutes(scope, services);
  });
  await app.register(async (instance) => {
    const scope = instance as App;
    await protectScope(scope, deps);
    routerRoutes(scope, { ...services, now: () => clock.now() });
    removalRoutes(scope, services);
    routerMoveRoutes(scope, services.routers);
    agentEntryRoutes(scope, services);
    catalogRoutes(scope, services);
    metadataRoutes(scope, services);
    faultRoutes(scope, { faults: services.faults, now: () => clock.now() });
    deviceRoutes(scope, services);
    commandRoutes(scope, services);
    eventRoutes(scope, { events: services.events, authenticate: connectedCaller(services) });
    jobRoutes(scope, services);
    backupRoutes(scope, services);
    campaignRoutes(scope, services);
    webhookRoutes(scope, services);
    forwardRoutes(scope, { forwards: services.forwards, now: () => clock.now(), allowPrivateSources: config.allowPrivateSources });
    forwardConnectionRoutes(scope, services);
    connectRoute(scope, { ...services, door, upgrades, authenticate: connectedCaller(services), clock });
    administrationRoutes(scope, services, () => clock.now());
    clientRoutes(scope, { clients: services.identity.clients, onRevoked: (teamId) => services.revocations.settle(teamId) });
    revocationRoutes(scope, services);
    accountRoutes(scope, services);
  });
  await app.register(async (instance) => identityRoutes(instance as App, { identity: services.identity, rateLimit: rateLimitOf(deps) }));
  await app.register(async (instance) => {
    const scope = instance as App;
    await admitServices(scope, (bearer) => services.auth.authenticateService(bearer), rateLimitOf(deps));
    statusRoutes(scope, services);
    metricsRoutes(scope, services);
  });
  return app;
}

/**
 * The former agent has lost its credential: its tunnel and what it carries end. Never rejects: the new agent must learn its secret, and
 * an entry port that could not be noted as lost is cut all the same.
 */
async function cutReplaced({ tunnels, forwards, log }: Pick<Services, 'tunnels' | 'forwards'> & { log: Log }, teamId: string, agentId: string): Promise<void> {
  tunnels.disconnect(agentId, 'revoked');
  await forwards.dropAgent(teamId, agentId, 'the agent was replaced').catch((error: unknown) => {
    log.warn({ err: error, agent_id: agentId }, 'not every forward of a replaced agent is noted as lost');
  });
}

/** Who asks, how often, with what right, and what is remembered of it. The order matters. */
async function protectScope(scope: App, deps: ApiDeps): Promise<void> {
  const { clock, services } = deps;
  identifyCaller(scope, publicCaller(services));
  await limitRequests(scope, rateLimitOf(deps));
  requireCaller(scope);
  requireRole(scope);
  resolveRouterNames(scope, (teamId, identity) => services.routers.idOfIdentity(teamId, identity));
  replayRepeatedPosts(scope, services.idempotency, () => clock.now());
  reportWrites(scope, (record) => services.audit.record(record), () => clock.monotonic());
}

function rateLimitOf({ config, clock }: Pick<ApiDeps, 'config' | 'clock'>): RateLimit {
  return { perMinute: config.rateLimitPerMinute, monotonic: () => clock.monotonic() };
}

function appOptions({ config, clock, log, tls }: Omit<ApiDeps, 'services' | 'admission'>): AppOptions {
  return {
    log: sampledLog(log.child({ component: 'http' }), clock, HTTP_LOG_BOUNDS),
    now: () => clock.now(),
    isTrustedProxy: proxyRule(config.trustProxy),
    ...(tls ? { tls: tls.pair } : {}),
  };
}

function attachGateway(app: App, upgrades: Upgrades, { config, clock, services, log }: ApiDeps): TunnelGateway<ChannelGrant> {
  const isTrusted = proxyRule(config.trustProxy);
  const gateway = new TunnelGateway<ChannelGrant>({
    registry: services.tunnels,
    authenticateAgent: (bearer) => services.auth.authenticateAgent(bearer),
    authorizeChannel: async (token) => services.forwards.authorizeChannel(token),
    onChannel: (grant, socket) => services.forwards.onChannel(grant, socket),
    clientAddress: (request) => clientAddress(request, isTrusted),
    fallback: (request, socket, head) => {
      if (isConnectRequest(request)) upgrades.pass(app, request, socket, head);
      else refuseUpgrade(socket, 404);
    },
    monotonic: () => clock.monotonic(),
    log: sampledLog(log.child({ component: 'gateway' }), clock),
  });
  services.metrics.watch('dial_checks', gateway.checking);
  gateway.attach(app.server);
  return gateway;
}

/**
 * At shutdown new requests are refused, those under way are answered while the agents are still there, then the
 * agents are sent away. Without the last step the server would wait for their sockets for ever.
 */
function closeTunnelsLast(app: App, gateway: TunnelGateway<ChannelGrant>, door: ForwardDoor, { events }: Pick<Services, 'events'>): void {
  const inFlight = new InFlight(app);
  app.addHook('preClose', async () => {
    // Requests that would never end by themselves.
    await events.stop();
    await within(inFlight.drained(), DRAIN_MS);
    await within(door.close(), GOODBYE_MS);
    await within(gateway.close(), GOODBYE_MS);
    // A connection on which no request ever came does not count as idle, and would hold the shutdown for seconds.
    app.server.closeAllConnections();
  });
}

async function startSandbox(deps: ApiDeps, closers: (() => Promise<void>)[]): Promise<string | null> {
  const { config, services } = deps;
  if (config.sandboxListen === null) return null;
  const app = createApp({ ...appOptions(deps), describeError: describePlantError, exactIntegers: true });
  deps.tls?.keepRenewed(app.server);
  admitRequests(app, deps.admission);
  await describeApi(app, {
    ...PLANTS_DESCRIPTION,
    serverUrl: `http://${config.sandboxListen.host}:${config.sandboxListen.port}`,
    prefixes: ['/plants'],
    ownErrors: true,
  });
  await app.register(async (instance) => {
    await plantRoutes(instance, {
      authenticate: publicCaller(services),
      rateLimit: rateLimitOf(deps),
    });
  });
  closers.push(() => app.close());
  return listen(app, config.sandboxListen, services.quietConnections);
}

/** Forgets old Idempotency-Keys and audit entries every hour. */
function sweepHourly(services: Services, clock: Clock, log: Log): () => Promise<void> {
  const sweep = async (): Promise<void> => {
    await services.idempotency.sweep();
    await services.identity.sweep();
    await services.invitations.sweep();
    await services.passwordLinks.sweep();
    await services.audit.sweep();
    await services.revocations.sweep();
    await services.retention.sweep();
  };
  let sweeping: Promise<void> = Promise.resolve();
  const schedule = () =>
    clock.setTimeout(() => {
      sweeping = sweep().catch((error: unknown) => log.warn({ err: error }, 'old records stay'));
      timer = schedule();
    }, SWEEP_EVERY_MS);
  let timer = schedule();
  return async () => {
    timer.cancel();
    await sweeping;
  };
}
