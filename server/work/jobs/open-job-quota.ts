import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { AppError } from '../../platform/core/errors.ts';
import { quotaExceeded, QUOTAS } from '../../platform/core/quotas.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { countOpenJobs } from './store.ts';

/** How often a team at its limit is counted again, milliseconds. Counting 50,000 index entries takes a few milliseconds. */
const COUNT_AGAIN_MS = 1000;
/** Other control planes create jobs, too. Then a team is counted again so long after its last count: it may have that many more. */
const COUNT_AGAIN_SHARED_MS = 1000;
/** Teams whose count is kept in memory. Beyond this number all are counted again. */
const REMEMBERED = 10_000;

interface OpenCount {
  jobs: number;
  countedAt: number;
}

export interface OpenJobQuotaDeps {
  storage: Storage;
  clock: Clock;
  counters?: Counters | undefined;
  /** Set where several control planes serve the database. */
  cluster?: object | undefined;
}

/**
 * Counts the jobs of each team that have not ended. A team creates up to thousands of jobs a second, so this counts them
 * once, adds new ones, and counts again only when the sum reaches the limit: that leaves out the jobs that have ended.
 */
export class OpenJobQuota {
  readonly #deps: OpenJobQuotaDeps;
  readonly #counts = new Map<string, Promise<OpenCount>>();

  constructor(deps: OpenJobQuotaDeps) {
    this.#deps = deps;
  }

  /** Never fewer than there are, except for jobs of requests under way. */
  async count(teamId: string): Promise<number> {
    const known = await this.#counts.get(teamId);
    if (known && this.#isGood(known)) return known.jobs;
    return (await this.#countAgain(teamId, known)).jobs;
  }

  #isGood({ jobs, countedAt }: OpenCount): boolean {
    const ageMs = this.#deps.clock.monotonic() - countedAt;
    if (this.#deps.cluster) return ageMs < COUNT_AGAIN_SHARED_MS;
    return jobs < QUOTAS.open_jobs_per_team.most || ageMs < COUNT_AGAIN_MS;
  }

  /** Whether a team with so many may have another one. */
  hasRoom(count: number): boolean {
    return count < QUOTAS.open_jobs_per_team.most;
  }

  /** Counts a refusal. @returns the error for its caller */
  exceeded(): AppError {
    return quotaExceeded(this.#deps.counters, 'open_jobs_per_team');
  }

  /** A job was created. */
  async added(teamId: string): Promise<void> {
    const known = await this.#counts.get(teamId);
    if (known) known.jobs += 1;
  }

  /** One count per team at a time: requests that find the team at its limit wait for the same count. */
  async #countAgain(teamId: string, known: OpenCount | undefined): Promise<OpenCount> {
    const underWay = this.#counts.get(teamId);
    if (underWay && (await underWay) !== known) return underWay;
    if (this.#counts.size >= REMEMBERED) this.#counts.clear();
    const counting = this.#count(teamId);
    this.#counts.set(teamId, counting);
    counting.catch(() => this.#counts.delete(teamId));
    return counting;
  }

  async #count(teamId: string): Promise<OpenCount> {
    const { storage, clock } = this.#deps;
    const countedAt = clock.monotonic();
    return { jobs: await countOpenJobs(storage.db, teamId, QUOTAS.open_jobs_per_team.most), countedAt };
  }
}
