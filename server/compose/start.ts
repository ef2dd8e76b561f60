import { uptime } from 'node:os';
import pino from 'pino';
import { readUpstream } from '../access/identity/feature.ts';
import { configurationWarnings } from '../config-warnings.ts';
import type { Config } from '../config.ts';
import { loadCatalog } from '../fleet/catalog/feature.ts';
import { LONGEST_MESSAGE_WAIT_MS, LONGEST_THREAD_WAIT_MS } from '../outbound/notifications/feature.ts';
import { LONGEST_WAIT_MS } from '../outbound/webhooks/feature.ts';
import type { AppError } from '../platform/core/errors.ts';
import { newId } from '../platform/core/ids.ts';
import { SharedCounts } from '../platform/request-counts/shared-counts.ts';
import { waitForPredecessor } from '../platform/nodes/claim.ts';
import { WriteFence } from '../platform/nodes/write-fence.ts';
import { AdoptedClock } from '../platform/core/adopted-clock.ts';
import { systemClock } from '../platform/core/clock.ts';
import type { Clock } from '../platform/core/clock.ts';
import { Counters } from '../platform/core/counters.ts';
import type { Log } from '../platform/core/log.ts';
import type { SharedWindows } from '../platform/core/request-window.ts';
import { sampledLog } from '../platform/core/sampled-log.ts';
import { Admission } from '../platform/http/admission.ts';
import { proxyRule } from '../platform/http/client-address.ts';
import { IgnoredForwarding } from '../platform/http/ignored-forwarding.ts';
import { listen } from '../platform/http/listen.ts';
import { QuietConnections } from '../platform/http/quiet-connections.ts';
import { Upgrades } from '../platform/http/upgrades.ts';
import { migrate } from '../platform/storage/migrate.ts';
import { capPlans, movePlans } from '../platform/storage/move-plans.ts';
import { openStorage } from '../platform/storage/open.ts';
import { lockForServing } from '../platform/storage/serve-lock.ts';
import { openSecretsOf } from '../platform/storage/stored-secrets.ts';
import { readConsole } from '../operations/console/feature.ts';
import { readAgentRelease } from '../operations/downloads/feature.ts';
import type { ConsoleFiles } from '../operations/console/types.ts';
import type { AgentRelease } from '../operations/downloads/types.ts';
import { SERVER_VERSION } from '../version.ts';
import { TICKET_KEY_BYTES, TlsCertificate } from '../platform/tls/certificate.ts';
import { LONGEST_RETRY_MS } from '../work/backups/feature.ts';
import { appOptions, createApi } from './api.ts';
import { startAgainWhenBroken, waitForDatabase } from './database-wait.ts';
import { buildFeatures } from './features.ts';
import type { Services } from './features.ts';
import type { Cluster, Platform } from '../feature.ts';
import { claim, joinCluster, takePart } from './membership.ts';
import { RejoiningServer } from './rejoining.ts';
import type { RunningServer } from './running-server.ts';
import type { Incarnation } from './rejoining.ts';
import { startSandbox } from './sandbox.ts';
import { sweepHourly } from './sweep.ts';

/**
 * Of one of several, milliseconds: the database rolls back what a frozen one has begun before the others take it for dead, so that it cannot
 * be committed afterwards.
 */
const IDLE_IN_TRANSACTION_MS = 8000;

export type { RunningServer } from './running-server.ts';

/** The longest waits of what is planned in the database. */
const LONGEST_MS = {
  jobEvent: LONGEST_WAIT_MS,
  backup: LONGEST_RETRY_MS,
  thread: LONGEST_THREAD_WAIT_MS,
  message: LONGEST_MESSAGE_WAIT_MS,
};

export interface ServerOverrides {
  clock?: Clock;
  log?: Log;
  /** Aborts a start that waits for its database. */
  signal?: AbortSignal;
  /**
   * Another control plane has taken the database over: this one must end without another write, as after a kill. By default it closes. One of
   * several starts again instead.
   */
  onReplaced?: (error: AppError) => void;
  /** One of several could not start again. It has ended. */
  onLost?: (error: unknown) => void;
  /** Other control planes may serve the same database: for tests of what is safe then. */
  isShared?: boolean;
  /** The web application; the built one unless given, null for none. */
  consoleFiles?: ConsoleFiles | null;
  /** The agent to hand out; the built one unless given, null for none. */
  agentRelease?: AgentRelease | null;
}

/**
 * Builds the whole control plane and starts it. Waits for a PostgreSQL server that is away or goes away during the start.
 * @throws AppError when the database or a port is not available
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const log = overrides.log ?? pino({ level: config.logLevel });
  const upstream = await readUpstream(config.upstream);
  const { signal, onLost = (error) => log.error({ err: error }, 'the control plane could not start again') } = overrides;
  if (config.cluster === null) {
    const nodeId = newId(systemClock.now());
    return startAgainWhenBroken(() => startOnce(config, { ...overrides, log, upstream, nodeId }), { config, log, signal });
  }
  const start = ({ port, ...incarnation }: Incarnation): Promise<RunningServer> => {
    const listenAt = port === undefined ? config.listen : { ...config.listen, port };
    const own = { ...config, listen: listenAt };
    return startAgainWhenBroken(() => startOnce(own, { ...overrides, log, upstream, ...incarnation }), { config, log, ...incarnation });
  };
  return RejoiningServer.start({ start, log, signal, onLost });
}

interface StartDeps extends ServerOverrides {
  log: Log;
  upstream: Awaited<ReturnType<typeof readUpstream>>;
  nodeId: string;
}

async function startOnce(
  config: Config,
  { log, upstream, nodeId, signal, consoleFiles = readConsole(), agentRelease = readAgentRelease(), ...overrides }: StartDeps,
): Promise<RunningServer> {
  // os.uptime also counts while the machine is suspended, so a suspension is not a clock step.
  const clock = new AdoptedClock(overrides.clock ?? systemClock, overrides.clock ? undefined : () => uptime() * 1000);
  const fence = new WriteFence();
  const limits = config.cluster ? { mayWrite: fence.check, idleInTransactionMs: IDLE_IN_TRANSACTION_MS } : {};
  const storage = await openStorage(config.databaseUrl, { log, limits });
  const closers: (() => Promise<void>)[] = [() => storage.close()];
  const close = closeOnce(closers, log);
  try {
    const unlock = lockForServing(config.databaseUrl);
    closers.unshift(async () => unlock());
    const tls = config.tls ? await TlsCertificate.open(config.tls, { clock, log }) : undefined;
    if (tls) closers.push(() => tls.stop());
    const startupServer = await waitForDatabase({ config, storage, log, appOptions: appOptions({ config, tls, clock, log }), signal });
    if (startupServer) closers.push(() => startupServer.close());
    const node = { storage, log, id: nodeId, version: SERVER_VERSION, publicUrl: config.cluster?.nodeUrl ?? null, signal };
    if (!overrides.isShared) await waitForPredecessor(node);
    await migrate(storage);
    const secrets = await openSecretsOf(storage, config.secretKeyFile);
    const own = { ...node, keys: config.cluster ? secrets.keys : undefined };
    const onReplaced = overrides.onReplaced ?? ((): void => void close());
    const claimed = overrides.isShared ? undefined : await claim(own, { databaseUrl: config.databaseUrl, fence, onReplaced, closers });
    await storage.writes.write((tx) => capPlans(tx, clock.now(), LONGEST_MS));
    const cluster = claimed && (await joinCluster(own, { config, claimed, clock, closers }));
    if (cluster) tls?.shareTickets((day) => secrets.derive(`tls tickets ${day}`, TICKET_KEY_BYTES));
    const sharedWindows = cluster && startCounting({ storage, clock, log, cluster }, closers);
    const platform = platformOf({ config, storage, secrets, clock, log, cluster: cluster ?? null, sharedWindows });
    const catalog = await loadCatalog(config.catalog);
    const { features, services } = buildFeatures({ ...platform, catalog, upstream, consoleFiles, agentRelease });
    clock.follow((stepMs, now) => onClockStep(services, stepMs, now), log);
    closers.push(() => clock.stop());
    const part = claimed && cluster && takePart(own, { config, claimed, cluster, clock, services });
    await features.start(closers);
    if (part) closers.push(() => part.drain.stop());
    closers.push(sweepHourly(features, { cluster: platform.cluster, clock, log }));
    const admission = new Admission();
    const app = await createApi({
      admission,
      config,
      tls,
      clock,
      log,
      features,
      services,
      refusesTunnels: part && (() => part.drain.refusesTunnels),
    });
    closers.push(() => app.close());
    await startupServer?.close();
    const url = await listen(app, startupServer?.listen ?? config.listen, { quiet: services.quietConnections });
    if (part) {
      closers.push(() => part.rebalance.stop());
      part.rebalance.start();
    }
    await services.identity.start(baseUrlOf(config, url));
    closers.push(() => services.identity.stop());
    const sandboxUrl = await startSandbox({ admission, config, tls, clock, log, services }, closers);
    for (const reason of configurationWarnings(config)) log.warn({ reason }, 'the configuration may be incomplete');
    log.info({ source: url }, 'control plane is listening');
    const reload = async (): Promise<void> => tls?.read();
    return { url, sandboxUrl, services, reload, drain: async () => part?.drain.run(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Counts requests together with the other control planes, until the end. */
function startCounting(
  { storage, clock, log, cluster }: Pick<Platform, 'storage' | 'clock' | 'log'> & { cluster: Cluster },
  closers: (() => Promise<void>)[],
): SharedWindows {
  const isSweeper = (): boolean => cluster.members.isOwn('counts of requests');
  const counts = new SharedCounts({ storage, clock, log: sampledLog(log.child({ component: 'http' }), clock), isSweeper });
  closers.push(() => counts.stop());
  counts.start();
  return counts;
}

/** The machine's clock was set by `stepMs` at `now`, by the time from before. */
async function onClockStep(services: Services, stepMs: number, now: number): Promise<void> {
  const { storage, cluster, serverRuns, sessions, states, events } = services;
  const afterCommit = await storage.writes.write(async (tx) => {
    // The plans of several belong to all of them, and the clocks of the others have not been set.
    if (!cluster) await movePlans(tx, stepMs, now);
    return serverRuns.onClockStep(tx, stepMs, now);
  });
  afterCommit();
  sessions.onClockStep(stepMs);
  states.onClockStep(stepMs);
  // Last: whoever reads again finds the new times.
  events.onClockStep();
}

/** Closes in reverse order: HTTP and agents first, then what is in memory is stored. */
function closeOnce(closers: (() => Promise<void>)[], log: Log): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const closer of closers.reverse()) {
      await closer().catch((error: unknown) => log.error({ err: error }, 'shutdown step failed'));
    }
  };
  return () => (closing ??= run());
}

function platformOf({
  config,
  storage,
  secrets,
  clock,
  log: fullLog,
  cluster,
  sharedWindows,
}: Pick<Platform, 'config' | 'storage' | 'secrets' | 'clock' | 'log' | 'cluster'> & {
  sharedWindows: SharedWindows | undefined;
}): Platform {
  // Agents and callers cause almost every log line of a feature, and can repeat the cause without limit.
  const log = sampledLog(fullLog, clock);
  const monotonic = (): number => clock.monotonic();
  const isTrusted = proxyRule(config.trustProxy);
  const counters = new Counters();
  return {
    config,
    storage,
    cluster,
    secrets,
    clock,
    now: () => clock.now(),
    log,
    counters,
    rateLimit: { perMinute: config.rateLimitPerMinute, monotonic, counters, shared: sharedWindows },
    upgrades: new Upgrades(),
    ignoredForwarding: new IgnoredForwarding({ isTrusted, monotonic, log }),
    quietConnections: new QuietConnections({ isTrusted, counters }),
  };
}

/** A port chosen by the system is only known now. */
function baseUrlOf({ publicUrl }: Config, url: string): string {
  return new URL(publicUrl).port === '0' ? url : publicUrl;
}
