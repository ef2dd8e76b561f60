import type { Config } from '../config.ts';
import { OIDC_PATH } from '../access/identity/feature.ts';
import { consolePage } from '../operations/console/feature.ts';
import { measureRequests } from '../operations/monitoring/feature.ts';
import { sampledLog } from '../platform/core/sampled-log.ts';
import { LoopTurns } from '../platform/core/loop-turns.ts';
import { within } from '../platform/core/within.ts';
import type { Clock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import type { Admission } from '../platform/http/admission.ts';
import { admitRequests } from '../platform/http/admission-gate.ts';
import { createApp } from '../platform/http/app.ts';
import type { App, AppOptions } from '../platform/http/app.ts';
import { reportWrites } from '../platform/http/audit-hook.ts';
import { identifyCaller, requireCaller, requireRole } from '../platform/http/authentication.ts';
import { clientAddress, proxyRule } from '../platform/http/client-address.ts';
import { nameEventPosition } from '../platform/http/event-position.ts';
import { healthRoutes } from '../platform/http/health.ts';
import { replayRepeatedWrites } from '../platform/http/idempotency.ts';
import { InFlight } from '../platform/http/in-flight.ts';
import { answerUnchanged } from '../platform/http/unchanged.ts';
import { compressAnswers } from '../platform/http/compression.ts';
import { describeApi } from '../platform/http/openapi.ts';
import { limitRequests } from '../platform/http/rate-limit.ts';
import { takeTurnsReading } from '../platform/http/reading-turns.ts';
import { resolveRouterNames } from '../platform/http/router-names.ts';
import { protectEdge } from '../platform/http/security-headers.ts';
import { admitServices } from '../platform/http/service-scope.ts';
import { answers } from '../platform/storage/health.ts';
import type { TlsCertificate } from '../platform/tls/certificate.ts';
import { ChannelLimits } from '../platform/tunnel/channel-limits.ts';
import { TunnelEndpoint } from '../platform/tunnel/endpoint.ts';
import { refuseUpgrade } from '../platform/tunnel/upgrade.ts';
import { isConnectRequest } from '../work/forwards/feature.ts';
import type { ChannelGrant } from '../work/forwards/types.ts';
import { isAttachRequest } from '../work/terminals/feature.ts';
import type { TerminalGrant } from '../work/terminals/types.ts';
import { SERVER_VERSION } from '../version.ts';
import { API_DESCRIPTION } from './api-description.ts';
import type { Features } from './assembly.ts';
import type { Services } from './features.ts';

/** What a channel carries. */
type Grant = ChannelGrant | TerminalGrant;

/** Time for requests in progress at shutdown, milliseconds. */
const DRAIN_MS = 10_000;
/** Time to tell agents at shutdown to reconnect later, milliseconds. */
const GOODBYE_MS = 5000;
/** More log lines are kept of refused requests than of others: a caller may ask about each request id. 100 kB a minute. */
const HTTP_LOG_BOUNDS = { perPeer: 300, perMessage: 300 };

export interface EdgeDeps {
  /** One admission queue for all listeners of the process. */
  admission: Admission;
  config: Config;
  tls: TlsCertificate | undefined;
  clock: Clock;
  log: Log;
  services: Services;
  /** Agents shall dial other control planes. */
  refusesTunnels?: (() => boolean) | undefined;
}

/** The HTTP application with every feature's routes and the agents' WebSockets; it does not listen yet. */
export async function createApi(deps: EdgeDeps & { features: Features }): Promise<App> {
  const { config, clock, features, services } = deps;
  const options = appOptions(deps);
  const app = createApp({ ...options, pageFor: (request, reply) => consolePage(services.consoleFiles, request, reply) });
  deps.tls?.keepRenewed(app.server);
  const observe = services.metrics.observeRequest.bind(services.metrics);
  admitRequests(app, { admission: deps.admission, options, observe });
  services.ignoredForwarding.watch(app.server);
  closeTunnelsLast(app, attachTunnelEndpoint(app, deps), services);
  await protectEdge(app, { corsOrigins: config.corsOrigins });
  measureRequests(app, services.metrics);
  await describeApi(app, {
    ...API_DESCRIPTION,
    serverUrl: config.publicUrl,
    discoveryUrl: `${config.publicUrl}${OIDC_PATH}/.well-known/openid-configuration`,
    // `PUT /{group}` has no path prefix.
    prefixes: ['/api', '/arp', '/:group'],
  });
  healthRoutes(app, {
    version: SERVER_VERSION,
    // Load balancers ask every second: with several control planes the beat has asked the database just before.
    isReady: async () => services.cluster?.databaseAnswers() || answers(services.storage),
    whyNotReady: () => whyNotReady(services.cluster),
  });
  await app.register(async (scope) => {
    await protectScope(scope, services, clock);
    features.addRoutes(scope);
  });
  await features.addOpenRoutes(app);
  await app.register(async (scope) => {
    await admitServices(scope, (bearer) => services.credentials.authenticateService(bearer), services.rateLimit);
    features.addInternalRoutes(scope);
  });
  return app;
}

/** One of several control planes tells the load balancer to send its clients and agents to the others. */
function whyNotReady(cluster: Services['cluster']): string | undefined {
  if (cluster?.isDraining()) return 'this control plane gives its work to others, to be stopped';
  if (cluster && !cluster.isCounted()) return 'this control plane does not reach the database, and the others may not count on it any more';
  return undefined;
}

/** Authentication, rate limit, authorization, replay and audit. The order matters. */
async function protectScope(scope: App, services: Services, clock: Clock): Promise<void> {
  identifyCaller(scope, services.publicCaller);
  const giveBack = await limitRequests(scope, 'api', services.rateLimit);
  requireCaller(scope);
  requireRole(scope);
  resolveRouterNames(scope, (teamId, identity) => services.routers.idOfIdentity(teamId, identity));
  nameEventPosition(scope, (teamId) => services.events.position(teamId));
  takeTurnsReading(scope, new LoopTurns());
  replayRepeatedWrites(scope, services.idempotency, () => clock.now());
  answerUnchanged(scope, giveBack);
  compressAnswers(scope);
  reportWrites(
    scope,
    (record) => services.audit.record(record),
    () => clock.monotonic(),
  );
}

export function appOptions({ config, clock, log, tls }: Omit<EdgeDeps, 'services' | 'admission'>): AppOptions {
  return {
    log: sampledLog(log.child({ component: 'http' }), clock, HTTP_LOG_BOUNDS),
    now: () => clock.now(),
    isTrustedProxy: proxyRule(config.trustProxy),
    ...(tls ? { tls: tls.pair } : {}),
  };
}

function attachTunnelEndpoint(app: App, { config, clock, services, log, refusesTunnels }: EdgeDeps): TunnelEndpoint<Grant> {
  const isTrusted = proxyRule(config.trustProxy);
  const channels = new ChannelLimits({ counters: services.counters, monotonic: () => clock.monotonic() });
  const endpoint = new TunnelEndpoint<Grant>({
    channels,
    registry: services.tunnelRegistry,
    authenticateAgent: (bearer) => services.credentials.authenticateAgent(bearer),
    authorizeChannel: async (token) => services.forwards.authorizeChannel(token) ?? services.terminals.authorizeChannel(token),
    onChannel: (grant, socket) =>
      'forwardId' in grant ? services.forwards.onChannel(grant, socket) : services.terminals.onChannel(grant, socket),
    clientAddress: (request) => clientAddress(request, isTrusted),
    ...(refusesTunnels ? { refusesTunnels } : {}),
    fallback: (request, socket, head) => {
      if (isConnectRequest(request) || isAttachRequest(request)) services.upgrades.pass(app, request, socket, head);
      else refuseUpgrade(socket, 404);
    },
    monotonic: () => clock.monotonic(),
    log: sampledLog(log.child({ component: 'gateway' }), clock),
  });
  services.metrics.watch('dial_checks', endpoint.checking);
  services.metrics.watch('tunnel_openings', endpoint.openings.shares);
  services.metrics.watch('open_channels', channels.open);
  endpoint.attach(app.server);
  return endpoint;
}

/**
 * At shutdown new requests are refused, requests in progress are answered while agents are connected, then the
 * agents are disconnected. Without the last step the server would wait for their sockets forever.
 */
function closeTunnelsLast(
  app: App,
  endpoint: TunnelEndpoint<Grant>,
  { events, connectEndpoint, terminals }: Pick<Services, 'events' | 'connectEndpoint' | 'terminals'>,
): void {
  const inFlight = new InFlight(app);
  app.addHook('preClose', async () => {
    // These requests never end by themselves.
    await events.stop();
    await within(inFlight.drained(), DRAIN_MS);
    await within(connectEndpoint.close(), GOODBYE_MS);
    await terminals.stop();
    await within(endpoint.close(), GOODBYE_MS);
    // A connection without any request does not count as idle and would delay the shutdown for seconds.
    app.server.closeAllConnections();
  });
}
