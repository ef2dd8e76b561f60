import type { SharedUse } from '../runtime/fair-shares.ts';
import type { Config } from './config.ts';
import type { AgentEvents } from './platform/core/agent-gateway.ts';
import type { Bus } from './platform/bus/types.ts';
import type { SharedLog } from './platform/bus/shared-log.ts';
import type { Clock } from './platform/core/clock.ts';
import type { Counters } from './platform/core/counters.ts';
import type { Listeners } from './platform/core/listeners.ts';
import type { Members } from './platform/nodes/members.ts';
import type { SharedLook } from './platform/nodes/shared-look.ts';
import type { Log } from './platform/core/log.ts';
import type { TeamValue } from './platform/core/team-counts.ts';
import type { App } from './platform/http/app.ts';
import type { IgnoredForwarding } from './platform/http/ignored-forwarding.ts';
import type { QuietConnections } from './platform/http/quiet-connections.ts';
import type { RateLimit } from './platform/http/rate-limit.ts';
import type { Upgrades } from './platform/http/upgrades.ts';
import type { Storage } from './platform/storage/db.ts';
import type { Secrets } from './platform/storage/secrets.ts';

/** This control plane among those that serve the database together. */
export interface Cluster {
  /** New at each start. */
  nodeId: string;
  bus: Bus;
  /** The order of the events of all of them. */
  log: SharedLog;
  /** What finds all that no hint has told. */
  looks: Pick<SharedLook, 'ask'>;
  /** Who the others are, and which of them does what one alone shall do. */
  members: Members;
  /** Whether the others may still count on it (platform/nodes/beat.ts). */
  isCounted: () => boolean;
  /** Whether the database has answered within its last beat. */
  databaseAnswers: () => boolean;
  /** The ids of others that have ended, or that do not count any more. An id may come twice. */
  gone: Pick<Listeners<string>, 'subscribe'>;
  /** Whether it gives its tunnels and its work to others. */
  isDraining: () => boolean;
  /** Published when that changes. */
  drains: Pick<Listeners<boolean>, 'subscribe'>;
  /** How long ago the beat of one of them was seen to change, milliseconds; undefined before it was seen. */
  beatAgeMs: (nodeId: string) => number | undefined;
}

/** Services that every feature may use, whatever its position in the list. */
export interface Platform {
  config: Config;
  storage: Storage;
  /** Null for a control plane that serves its database alone. */
  cluster: Cluster | null;
  secrets: Secrets;
  clock: Clock;
  /** The clock's time, for routes. */
  now: () => number;
  /** Repeated lines are dropped. A feature adds its name: `log.child({ component: 'jobs' })`. */
  log: Log;
  /** How often each limit was reached. */
  counters: Counters;
  rateLimit: RateLimit;
  /** WebSockets of API users. */
  upgrades: Upgrades;
  /** Requests through an untrusted proxy. */
  ignoredForwarding: IgnoredForwarding;
  /** Idle connections without a request. */
  quietConnections: QuietConnections;
}

/** Inventories are not included: they identify the routers, so they come first (compose/wires/inventory-intake.ts). */
type HandledEvents = Omit<AgentEvents, 'onInventory' | 'onInventoryArrived' | 'onReady'>;

/** The agent events that a feature handles. The rules of `AgentEvents` apply. */
export interface AgentListener extends Partial<HandledEvents> {
  /** A promise is awaited before the next feature gets the event. */
  onReady?(...ready: Parameters<AgentEvents['onReady']>): Promise<void> | void;
}

/** A metric with a series for each team, and for each of these label values. A team that was not counted yet has 0. */
export interface TeamMetric {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  /** The one label beside `team`, with all its values: no series may depend on what peers send. */
  label?: { name: string; values: readonly string[] };
  read: () => readonly TeamValue[] | Promise<readonly TeamValue[]>;
}

/** A counter over all teams. */
export interface CountMetric {
  name: string;
  help: string;
  /** Their values come from lists of the product: no series may depend on what peers send. */
  labels: readonly string[];
  /** All series, each since the start. */
  read: () => readonly { labels: Readonly<Record<string, string>>; value: number }[];
}

/** A distribution over all teams. */
export interface HistogramMetric {
  name: string;
  help: string;
  /** Upper bounds, in the unit of the name. */
  buckets: readonly number[];
  /** Called once. The metric calls back with each value. */
  listen: (observe: (value: number) => void) => void;
}

/** Values of a feature for `/internal/metrics`. Asked for once. */
export interface Measures {
  /** Shared resources of teams, by name in docs/shared-resources.md. */
  shares?: Record<string, SharedUse>;
  gauges?: { name: string; help: string; labels?: Readonly<Record<string, string>>; read: () => number | Promise<number> }[];
  counts?: readonly CountMetric[];
  teams?: readonly TeamMetric[];
  histograms?: readonly HistogramMetric[];
}

/**
 * One feature of the control plane: `compose/features.ts` lists them, and everything else is a loop over that list.
 *
 * `Needs` are the services that `create` names, from the features before it in the list. `Brings` are the services that it adds.
 * Routes come after all features, so they may name services of any of them. TypeScript finds the missing ones. All members are properties
 * and not methods, because TypeScript compares the parameters of methods too loosely for that.
 */
export interface Feature<Needs, Brings, Api, Open, Internal> {
  /** Builds the services and does nothing else: everything that waits, listens or reads belongs in `start`. */
  create: (needs: Needs) => Brings;
  /** In the order of the list, before the HTTP server listens. A rejection ends the start of the control plane. */
  start?: (own: Brings) => Promise<void> | void;
  /** In the reverse order, after the HTTP server has closed; only if `start` succeeded. */
  stop?: (own: Brings) => Promise<void> | void;
  /** Deletes old records, every hour. `signal` aborts at the stop: the sweep then ends after its current batch. */
  sweep?: (own: Brings, signal: AbortSignal) => Promise<void>;
  /** Called in the order of the list; `onGone` in reverse order. */
  agentListener?: (own: Brings) => AgentListener;
  measures?: (own: Brings) => Measures;
  /** Public routes. The scope knows the caller, checks the role, limits the rate, replays repeated POSTs and writes the audit log. */
  routes?: (scope: App, services: Api) => void;
  /** Routes with their own protection, in an empty scope. */
  openRoutes?: (scope: App, services: Open) => Promise<void>;
  /** Routes for service tokens: `/internal`. */
  internalRoutes?: (scope: App, services: Internal) => void;
}

/** Defines a feature; the types are inferred from the parameters that its functions name. */
export function feature<Needs, Brings extends object, Api = unknown, Open = unknown, Internal = unknown>(
  definition: Feature<Needs, Brings, Api, Open, Internal>,
): Feature<Needs, Brings, Api, Open, Internal> {
  return definition;
}
