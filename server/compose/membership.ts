import pino from 'pino';
import type { Config } from '../config.ts';
import type { Cluster } from '../feature.ts';
import { EVENT_RULES, LOST_EVENTS } from '../outbound/events/feature.ts';
import { NatsBus } from '../platform/bus/nats-bus.ts';
import { NatsLog } from '../platform/bus/nats-log.ts';
import type { Clock } from '../platform/core/clock.ts';
import { systemClock } from '../platform/core/clock.ts';
import type { AppError } from '../platform/core/errors.ts';
import { Beat, BEAT_LIMITS } from '../platform/nodes/beat.ts';
import { claimDatabase } from '../platform/nodes/claim.ts';
import type { ClaimDeps } from '../platform/nodes/claim.ts';
import { Members } from '../platform/nodes/members.ts';
import { PeerWatch } from '../platform/nodes/peer-watch.ts';
import { SharedLook } from '../platform/nodes/shared-look.ts';
import { selectDatabaseName, selectNodes } from '../platform/nodes/store.ts';
import type { WriteFence } from '../platform/nodes/write-fence.ts';
import { openStorage } from '../platform/storage/open.ts';
import { Drain } from './drain.ts';
import type { Services } from './features.ts';
import { Rebalance } from './rebalance.ts';

type Closers = (() => Promise<void>)[];

export interface Claimed {
  beat: Beat;
  /** Null for a control plane that serves the database alone. */
  members: Members | null;
}

interface ClaimOptions {
  databaseUrl: string;
  fence: WriteFence;
  onReplaced: (error: AppError) => void;
  /** Called in reverse order at the end. */
  closers: Closers;
}

/** @returns what holds the database from now on; undefined on SQLite @throws AppError `conflict` while another one serves it */
export async function claim(node: ClaimDeps, { databaseUrl, fence, onReplaced, closers }: ClaimOptions): Promise<Claimed | undefined> {
  await claimDatabase(node, systemClock.now());
  if (node.storage.engine === 'sqlite') return undefined;
  const ids = node.publicUrl === null ? [] : (await selectNodes(node.storage.db)).map(({ id }) => id);
  const members = node.publicUrl === null ? null : new Members(node.id, ids);
  // Its log is that of the beat: the control plane's own connections tell of a database that is away.
  const storage = await openStorage(databaseUrl, { log: pino({ level: 'silent' }), limits: BEAT_LIMITS });
  const beat = new Beat({ ...node, members, storage, onReplaced });
  beat.start();
  closers.push(() => beat.stop());
  fence.follow(beat);
  return { beat, members };
}

interface JoinOptions {
  config: Config;
  claimed: Claimed;
  clock: Clock;
  closers: Closers;
}

/** @returns undefined for a control plane that serves its database alone @throws AppError `conflict` when it does not fit to the others, or is not let in at the bus */
export async function joinCluster(
  { id: nodeId, storage, log, signal }: ClaimDeps,
  { config, claimed: { beat, members }, clock, closers }: JoinOptions,
): Promise<Cluster | undefined> {
  if (!config.cluster || !members) return undefined;
  const name = await selectDatabaseName(storage.db);
  const own = { log: log.child({ component: 'bus' }), clock };
  const bus = NatsBus.open({ ...config.cluster.bus, ...own, name: `signalbox ${nodeId}`, timers: clock });
  closers.push(() => bus.close());
  await bus.firstAttempt();
  const onConnection: NatsBus['onConnection'] = (use) => bus.onConnection(use);
  const events = new NatsLog({ ...own, onConnection, name, nodeId, perTopic: EVENT_RULES.remembered, lostText: LOST_EVENTS });
  // Until the features are there it has no agents and no clients.
  beat.measure = () => ({ tunnels: 0, clients: 0, onBus: bus.isConnected });
  const nodes = () => selectNodes(storage.db);
  const peers = new PeerWatch({ nodeId, bus, clock, log: log.child({ component: 'nodes' }), nodes, signal });
  closers.push(() => peers.stop());
  await peers.start();
  const looks = new SharedLook({ storage, clock, log: log.child({ component: 'nodes' }) });
  closers.push(() => looks.stop());
  looks.start();
  return {
    nodeId,
    bus,
    log: events,
    looks,
    members,
    isCounted: () => beat.isCounted,
    databaseAnswers: () => beat.hasFreshAnswer,
    gone: beat.gone,
    beatAgeMs: (id) => beat.beatAgeMs(id),
    isDraining: () => beat.isDraining,
    drains: beat.drains,
  };
}

interface PartOptions {
  config: Config;
  claimed: Claimed;
  cluster: Cluster;
  clock: Clock;
  services: Pick<Services, 'tunnelRegistry' | 'remoteAgents' | 'events' | 'forwards' | 'terminals' | 'serverRuns'>;
}

/** Which agents this control plane has, and which the others. */
interface Part {
  drain: Drain;
  rebalance: Rebalance;
}

/**
 * Tells the others how much this control plane has, and gives it to them when it drains, or some of it when they have less.
 * @returns undefined for one that serves its database alone
 */
export function takePart(
  { id: nodeId, storage, log }: ClaimDeps,
  { config, claimed: { beat }, cluster, clock, services }: PartOptions,
): Part | undefined {
  const { tunnelRegistry: tunnels, remoteAgents: requests, events, forwards, terminals, serverRuns } = services;
  beat.measure = () => ({
    tunnels: tunnels.size,
    clients: events.openStreams + forwards.openConnections + terminals.attachedClients,
    onBus: cluster.bus.isConnected,
    run: serverRuns.alive(),
  });
  if (!requests) return undefined;
  const others = (): readonly number[] | undefined =>
    beat.isDraining || !beat.isCounted || !cluster.bus.isConnected ? undefined : beat.tunnelsOfOthers;
  return {
    drain: new Drain({ nodeId, storage, beat, tunnels, requests, balancerMs: config.cluster?.drainMs ?? 0, log }),
    rebalance: new Rebalance({
      clock,
      log: log.child({ component: 'nodes' }),
      tunnels,
      requests,
      others,
      changes: cluster.members.changes,
    }),
  };
}
