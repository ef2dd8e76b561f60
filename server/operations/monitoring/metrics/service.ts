import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CountMetric, HistogramMetric, TeamMetric } from '../../../feature.ts';
import type { SharedUse } from '../../../../runtime/fair-shares.ts';
import { BATCHED_ROWS, LIMITS } from '../../../platform/core/counters.ts';
import type { Counters } from '../../../platform/core/counters.ts';
import type { StatusService } from '../status/service.ts';
import type { TeamWork } from '../status/store.ts';
import { sharedResourceMetrics } from './shared-resources.ts';
import { teamMetric, workMetrics } from './teams.ts';

/** Seconds; the range ends at the longest time-out of a command. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/** Prometheus metrics for the operator. Gauges read the status when they are scraped; nothing is stored twice. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;

  readonly #work: Record<'agents' | 'forwards' | 'queued' | 'running' | 'ignoredForwarding', Gauge>;
  readonly #status: Pick<StatusService, 'read'>;
  readonly #shared = new Map<string, SharedUse>();
  /** As read for the scrape under way. */
  #teams: readonly TeamWork[] = [];

  constructor(status: Pick<StatusService, 'read'>, counters: Counters) {
    this.#status = status;
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'signalbox_http_request_duration_seconds',
      help: 'Time from a request to its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: BUCKETS,
      registers: [this.#registry],
    });
    this.#registry.registerMetric(limitsReached(counters));
    for (const metric of sharedResourceMetrics(this.#shared)) this.#registry.registerMetric(metric);
    for (const metric of workMetrics(() => this.#teams)) this.#registry.registerMetric(metric);
    this.#registry.registerMetric(cleanedMessages(counters));
    this.#registry.registerMetric(refusedRows(counters));
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [this.#registry] });
    this.#work = {
      agents: gauge('signalbox_connected_agents', 'Agents with a tunnel to this node'),
      forwards: gauge('signalbox_open_forwards', 'Forwards whose entry port is open'),
      queued: gauge('signalbox_queued_jobs', 'Jobs that wait for their router'),
      ignoredForwarding: gauge(
        'signalbox_ignored_forwarding',
        'Requests with a forwarding header from an untrusted proxy, since the start',
      ),
      running: gauge('signalbox_running_jobs', 'Jobs whose script has begun and not ended'),
    };
  }

  /** Adds metrics of a shared resource. @param resource its name in docs/shared-resources.md */
  watch(resource: string, use: SharedUse): void {
    this.#shared.set(resource, use);
  }

  /** A gauge that is read at each scrape. */
  show(name: string, help: string, read: () => number | Promise<number>, labels: Readonly<Record<string, string>> = {}): void {
    const collect = async (): Promise<void> => gauge.set(labels, await read());
    const gauge: Gauge = new Gauge({ name, help, labelNames: Object.keys(labels), registers: [this.#registry], collect });
  }

  /** A counter that its owner keeps. */
  count({ name, help, labels, read }: CountMetric): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        for (const series of read()) counter.inc(series.labels, series.value);
      },
    });
  }

  /** A metric with a series for each team. */
  showTeams(metric: TeamMetric): void {
    this.#registry.registerMetric(teamMetric(metric, () => this.#teams.map(({ teamId }) => teamId)));
  }

  /** A distribution whose values come one by one. */
  observe({ name, help, buckets, listen }: HistogramMetric): void {
    const histogram = new Histogram({ name, help, buckets: [...buckets], registers: [this.#registry] });
    listen((value) => histogram.observe(value));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const now = await this.#status.read();
    this.#teams = now.teams;
    this.#work.agents.set(now.connectedAgents);
    this.#work.forwards.set(now.openForwards);
    this.#work.queued.set(now.queuedJobs);
    this.#work.running.set(now.runningJobs);
    this.#work.ignoredForwarding.set(now.ignoredForwarding);
    return this.#registry.metrics();
  }

  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void {
    this.#requests.observe({ ...labels, status: String(labels.status) }, seconds);
  }
}

/** Each limit counts its own hits; this only exports the counts. */
function limitsReached(counters: Counters): Counter {
  return new Counter({
    name: 'signalbox_limits_reached_total',
    help: 'How often a limit of docs/limits.md was reached',
    labelNames: ['limit'],
    registers: [],
    collect() {
      this.reset();
      for (const limit of LIMITS) this.inc({ limit }, counters.get(limit));
    },
  });
}

/** Agents clean router output themselves: a growing count means an outdated agent, or one that forwards invalid data. */
function cleanedMessages(counters: Counters): Counter {
  return new Counter({
    name: 'signalbox_cleaned_messages_total',
    help: 'Agent messages with router output that was not valid text or a valid fact',
    registers: [],
    collect() {
      this.reset();
      this.inc(counters.cleanedMessages);
    },
  });
}

function refusedRows(counters: Counters): Counter {
  return new Counter({
    name: 'signalbox_refused_rows_total',
    help: 'Rows that the database cannot store, dropped so that others are stored',
    labelNames: ['rows'],
    registers: [],
    collect() {
      this.reset();
      for (const rows of BATCHED_ROWS) this.inc({ rows }, counters.refusedRows[rows]);
    },
  });
}
