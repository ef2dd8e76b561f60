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
import { NatsBus } from '../platform/bus/nats-bus.ts';
import { SharedCounts } from '../platform/request-counts/shared-counts.ts';
import { Beat, BEAT_LIMITS } from '../platform/nodes/beat.ts';
import { claimDatabase, waitForPredecessor } from '../platform/nodes/claim.ts';
import type { ClaimDeps } from '../platform/nodes/claim.ts';
import { Members } from '../platform/nodes/members.ts';
import { selectNodes } from '../platform/nodes/store.ts';
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
import { TlsCertificate } from '../platform/tls/certificate.ts';
import { LONGEST_RETRY_MS } from '../work/backups/feature.ts';
import { appOptions, createApi } from './api.ts';
import { startAgainWhenBroken, waitForDatabase } from './database-wait.ts';
import { buildFeatures } from './features.ts';
import type { Services } from './features.ts';
import type { Cluster, Platform } from '../feature.ts';
import { startSandbox } from './sandbox.ts';
import { sweepHourly } from './sweep.ts';

export interface ServerOverrides {
  clock?: Clock;
  log?: Log;
  /** Aborts a start that waits for its database. */
  signal?: AbortSignal;
  /**
   * Another control plane has taken the database over: this one must end without another write, as after a kill. By default it closes.
   */
  onReplaced?: (error: AppError) => void;
  /** Other control planes may serve the same database: for tests of what is safe then. */
  isShared?: boolean;
  /** The web application; the built one unless given, null for none. */
  consoleFiles?: ConsoleFiles | null;
  /** The agent to hand out; the built one unless given, null for none. */
  agentRelease?: AgentRelease | null;
}

export interface RunningServer {
  /** Address of the API: `http://127.0.0.1:8080`. */
  url: string;
  /** Address of the plant demonstration; null when it is off. */
  sandboxUrl: string | null;
  services: Services;
  /** Reloads the TLS certificate now instead of within a minute. Never rejects. */
  reload(): Promise<void>;
  /** Accepts nothing new, completes what is in progress and stores what is in memory. */
  close(): Promise<void>;
}

/**
 * Builds the whole control plane and starts it. Waits for a PostgreSQL server that is away or goes away during the start.
 * @throws AppError when the database or a port is not available
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const log = overrides.log ?? pino({ level: config.logLevel });
  const upstream = await readUpstream(config.upstream);
  const nodeId = newId(systemClock.now());
  return startAgainWhenBroken(() => startOnce(config, { ...overrides, log, upstream, nodeId }), { config, log, signal: overrides.signal });
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
  const storage = await openStorage(config.databaseUrl, { log });
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
    const claimed = overrides.isShared ? undefined : await claim(node, config.databaseUrl, overrides.onReplaced ?? (() => void close()));
    if (claimed) closers.push(() => claimed.beat.stop());
    const longestMs = {
      jobEvent: LONGEST_WAIT_MS,
      backup: LONGEST_RETRY_MS,
      thread: LONGEST_THREAD_WAIT_MS,
      message: LONGEST_MESSAGE_WAIT_MS,
    };
    await storage.writes.write((tx) => capPlans(tx, clock.now(), longestMs));
    const secrets = await openSecretsOf(storage, config.secretKeyFile);
    const cluster = claimed && joinCluster(config, { nodeId, ...claimed, clock, log });
    if (cluster) closers.push(() => cluster.bus.close());
    const sharedWindows = cluster && startCounting({ storage, clock, log, cluster }, closers);
    const platform = platformOf({ config, storage, secrets, clock, log, cluster: cluster ?? null, sharedWindows });
    const catalog = await loadCatalog(config.catalog);
    const { features, services } = buildFeatures({ ...platform, catalog, upstream, consoleFiles, agentRelease });
    clock.follow(async (stepMs, now) => {
      const afterCommit = await storage.writes.write(async (tx) => {
        await movePlans(tx, stepMs, now);
        return services.serverRuns.onClockStep(tx, stepMs, now);
      });
      afterCommit();
      services.sessions.onClockStep(stepMs);
      services.states.onClockStep(stepMs);
      // Last: whoever reads again finds the new times.
      services.events.onClockStep();
    }, log);
    closers.push(() => clock.stop());
    if (cluster && claimed) {
      const { tunnelRegistry } = services;
      claimed.beat.measure = () => ({ tunnels: tunnelRegistry.size, clients: 0, onBus: cluster.bus.isConnected });
    }
    await features.start(closers);
    closers.push(sweepHourly(features, { cluster: platform.cluster, clock, log }));
    const admission = new Admission();
    const app = await createApi({ admission, config, tls, clock, log, features, services });
    closers.push(() => app.close());
    await startupServer?.close();
    const url = await listen(app, startupServer?.listen ?? config.listen, services.quietConnections);
    await services.identity.start(baseUrlOf(config, url));
    closers.push(() => services.identity.stop());
    const sandboxUrl = await startSandbox({ admission, config, tls, clock, log, services }, closers);
    for (const reason of configurationWarnings(config)) log.warn({ reason }, 'the configuration may be incomplete');
    log.info({ source: url }, 'control plane is listening');
    const reload = async (): Promise<void> => tls?.read();
    return { url, sandboxUrl, services, reload, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Claimed {
  beat: Beat;
  /** Null for a control plane that serves the database alone. */
  members: Members | null;
}

/** @returns what holds the database from now on; undefined on SQLite @throws AppError `conflict` while another one serves it */
async function claim(node: ClaimDeps, databaseUrl: string, onReplaced: (error: AppError) => void): Promise<Claimed | undefined> {
  await claimDatabase(node, systemClock.now());
  if (node.storage.engine === 'sqlite') return undefined;
  // Its log is that of the beat: the control plane's own connections tell of a database that is away.
  const storage = await openStorage(databaseUrl, { log: pino({ level: 'silent' }), limits: BEAT_LIMITS });
  const isMember = node.publicUrl !== null;
  const members = isMember
    ? new Members(
        node.id,
        (await selectNodes(node.storage.db)).map(({ id }) => id),
      )
    : null;
  const beat = new Beat({ ...node, members, storage, onReplaced });
  beat.start();
  return { beat, members };
}

/** @returns undefined for a control plane that serves its database alone */
function joinCluster(
  { cluster }: Config,
  { nodeId, beat, members, clock, log }: Pick<Cluster, 'nodeId'> & Claimed & { clock: Clock; log: Log },
): Cluster | undefined {
  if (!cluster || !members) return undefined;
  const bus = NatsBus.open({ ...cluster.bus, name: `signalbox ${nodeId}`, timers: clock, log: log.child({ component: 'bus' }) });
  beat.measure = () => ({ tunnels: 0, clients: 0, onBus: bus.isConnected });
  return {
    nodeId,
    bus,
    members,
    isCounted: () => beat.isCounted,
    gone: beat.gone,
    beatAgeMs: (id) => beat.beatAgeMs(id),
    isDraining: () => beat.isDraining,
    drains: beat.drains,
  };
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
