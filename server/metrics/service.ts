import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StatusService } from '../status/service.ts';

/** Seconds; commands wait for routers, so the range ends at their longest time-out. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/** What an operator watches. Counts come from the status when they are asked for; nothing is kept twice. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;

  readonly #work: Record<'agents' | 'forwards' | 'queued' | 'running', Gauge>;
  readonly #status: Pick<StatusService, 'read'>;

  constructor(status: Pick<StatusService, 'read'>) {
    this.#status = status;
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'signalbox_http_request_duration_seconds',
      help: 'Time from the request to its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: BUCKETS,
      registers: [this.#registry],
    });
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [this.#registry] });
    this.#work = {
      agents: gauge('signalbox_connected_agents', 'Agents whose tunnel hangs on this node'),
      forwards: gauge('signalbox_open_forwards', 'Forwards whose entry port is open'),
      queued: gauge('signalbox_queued_jobs', 'Jobs waiting for their router'),
      running: gauge('signalbox_running_jobs', 'Jobs whose script has begun and not ended'),
    };
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const now = await this.#status.read();
    this.#work.agents.set(now.connectedAgents);
    this.#work.forwards.set(now.openForwards);
    this.#work.queued.set(now.queuedJobs);
    this.#work.running.set(now.runningJobs);
    return this.#registry.metrics();
  }

  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void {
    this.#requests.observe({ ...labels, status: String(labels.status) }, seconds);
  }
}
