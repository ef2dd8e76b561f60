import type { Clock } from '../../../platform/core/clock.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { countWork } from './store.ts';
import type { TeamWork } from './store.ts';

export interface Status {
  version: string;
  uptimeSeconds: number;
  /** On this node. */
  connectedAgents: number;
  openForwards: number;
  queuedJobs: number;
  runningJobs: number;
  /** The same by team, with the teams that have nothing under way. */
  teams: readonly TeamWork[];
  /** Requests with a forwarding header from an untrusted proxy, since the start. */
  ignoredForwarding: number;
  /** Configuration problems that the operator should fix, as sentences. */
  warnings: string[];
}

export interface StatusDeps {
  storage: Storage;
  clock: Clock;
  version: string;
  countAgents: () => number;
  countIgnoredForwarding: () => number;
  warnings: () => string[];
}

/** The status of the control plane, for its operators. */
export class StatusService {
  readonly #deps: StatusDeps;
  readonly #startedAt: number;

  constructor(deps: StatusDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
  }

  async read(): Promise<Status> {
    const { storage, clock, version, countAgents, countIgnoredForwarding, warnings } = this.#deps;
    const teams = await countWork(storage.db);
    const sum = (countOf: (team: TeamWork) => number): number => teams.reduce((total, team) => total + countOf(team), 0);
    return {
      version,
      uptimeSeconds: Math.floor((clock.now() - this.#startedAt) / 1000),
      connectedAgents: countAgents(),
      ignoredForwarding: countIgnoredForwarding(),
      warnings: warnings(),
      openForwards: sum((team) => team.openForwards),
      queuedJobs: sum((team) => team.jobs.queued),
      runningJobs: sum((team) => team.jobs.running),
      teams,
    };
  }
}
