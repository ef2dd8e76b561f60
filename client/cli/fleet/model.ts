import type { StreamEvent } from '../../events.ts';
import type { Overview } from '../../generated.ts';
import type { State } from '../state-words.ts';
import { STATES } from '../state-words.ts';
import type { DownRouter } from './fleet.ts';

export type WatchedRouter = DownRouter & { agent_id: string };

export interface RunningJob {
  id: string;
  router_id: string;
  description: string;
  since: string;
}

/** What the lists said, before the first event. */
export interface Snapshot {
  overview: Overview;
  routers: readonly WatchedRouter[];
  jobs: readonly RunningJob[];
  /** The server's time when the overview was read, milliseconds since 1970. */
  at: number;
}

/** Events that are shown. */
const FEED = 200;

/** Events that say too little to keep the lists right: they must be read again. */
const READ_AGAIN = new Set<StreamEvent['type']>(['resync', 'router.moved', 'router.replaced']);
/** `router.changed` says the same and more. */
const REPEATED = new Set<StreamEvent['type']>(['router.online', 'router.offline']);

/** The fleet as lists and then the event stream tell it. Computes no state: each is the server's word. */
export class FleetModel {
  /** Newest first. */
  readonly feed: StreamEvent[] = [];
  overview: Overview;
  at: number;
  /** Something happened that the overview does not know yet. */
  isOverviewOld = false;
  /** Something happened that no event tells completely. */
  mustReadAgain = false;
  readonly #routers: Map<string, WatchedRouter>;
  readonly #jobs: Map<string, RunningJob>;

  constructor({ overview, routers, jobs, at }: Snapshot) {
    this.overview = overview;
    this.at = at;
    this.#routers = new Map(routers.map((router) => [router.id, router]));
    this.#jobs = new Map(jobs.map((job) => [job.id, job]));
  }

  /** Events come in their order. One that the lists knew already changes nothing. */
  apply(event: StreamEvent): void {
    if (REPEATED.has(event.type)) return;
    this.isOverviewOld = true;
    if (READ_AGAIN.has(event.type)) this.mustReadAgain = true;
    if (event.type === 'router.changed') this.#changeRouter(event.data);
    if (event.type === 'router.updated') this.#renameRouter(event.data);
    if (event.type === 'router.removed') this.#routers.delete(textOf(event.data['router_id']));
    if (event.type.startsWith('job.')) this.#changeJob(event);
    this.feed.unshift(event);
    if (this.feed.length > FEED) this.feed.pop();
  }

  /** How many routers are in each state. */
  get states(): Record<State, number> {
    const counts: Record<State, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
    for (const { state } of this.#routers.values()) if (state !== null) counts[state] += 1;
    return counts;
  }

  /** Routers that do not answer, the latest change first. */
  get down(): WatchedRouter[] {
    return [...this.#routers.values()]
      .filter(({ state }) => state === 'not_answering' || state === 'agent_away')
      .toSorted((one, other) => (other.state_since ?? '').localeCompare(one.state_since ?? ''));
  }

  /** The latest first. */
  get runningJobs(): RunningJob[] {
    return [...this.#jobs.values()].toSorted((one, other) => other.since.localeCompare(one.since));
  }

  /** The name of a router, or its id. */
  nameOf(routerId: string): string {
    return this.#routers.get(routerId)?.identity ?? routerId;
  }

  /** The name of an agent, or its id. */
  agentNameOf(agentId: string): string {
    return this.#agentName(agentId) ?? agentId;
  }

  #agentName(agentId: string): string | null {
    for (const router of this.#routers.values()) if (router.agent_id === agentId) return router.agent_name;
    return null;
  }

  #changeRouter(data: Readonly<Record<string, unknown>>): void {
    const id = textOf(data['router_id']);
    const agentId = textOf(data['agent_id']);
    const known = this.#routers.get(id);
    this.#routers.set(id, {
      id,
      identity: textOf(data['identity']),
      state: STATES.find((state) => state === data['state']) ?? null,
      state_since: textOf(data['state_since']),
      state_reason: data['state_reason'] === null ? null : textOf(data['state_reason']),
      agent_id: agentId,
      agent_name: known?.agent_id === agentId ? known.agent_name : this.#agentName(agentId),
    });
  }

  #renameRouter({ router_id: id, identity }: Readonly<Record<string, unknown>>): void {
    const router = this.#routers.get(textOf(id));
    if (router && typeof identity === 'string') this.#routers.set(router.id, { ...router, identity });
  }

  #changeJob({ type, data }: StreamEvent): void {
    const id = textOf(data['job_id']);
    if (type === 'job.running') {
      const since = this.#jobs.get(id)?.since ?? textOf(data['at']);
      this.#jobs.set(id, { id, router_id: textOf(data['router_id']), description: textOf(data['description']), since });
    } else if (data['status'] !== 'running') {
      this.#jobs.delete(id);
    }
  }
}

/** Data of events is what a server sent: anything but text counts as none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
