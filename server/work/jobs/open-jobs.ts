import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { checkQuota, QUOTAS } from '../../platform/core/quotas.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { countOpenJobs } from './store.ts';

/** A team at its limit is counted again so often, milliseconds: counting 50,000 entries of an index takes some milliseconds. */
const COUNT_AGAIN_MS = 1000;
/** Teams whose count is remembered; beyond it they are counted anew. */
const REMEMBERED = 10_000;

interface OpenCount {
  jobs: number;
  countedAt: number;
}

/**
 * How many jobs of each team have not ended. Jobs are made by the thousand a second, so they are counted when first needed, new ones
 * are added up, and only when that reaches the limit they are counted again: those that ended are found out then.
 */
export class OpenJobs {
  readonly #deps: { storage: Storage; clock: Clock; counters?: Counters | undefined };
  readonly #counts = new Map<string, Promise<OpenCount>>();

  constructor(deps: { storage: Storage; clock: Clock; counters?: Counters | undefined }) {
    this.#deps = deps;
  }

  /** Not less than there are, but for requests under way. */
  async count(teamId: string): Promise<number> {
    const known = await this.#counts.get(teamId);
    if (known && (known.jobs < QUOTAS.open_jobs_per_team.most || this.#deps.clock.monotonic() - known.countedAt < COUNT_AGAIN_MS))
      return known.jobs;
    return (await this.#countAgain(teamId, known)).jobs;
  }

  /** @throws AppError `quota_exceeded` */
  check(count: number): void {
    checkQuota(this.#deps.counters, 'open_jobs_per_team', count);
  }

  /** A job was made. */
  async added(teamId: string): Promise<void> {
    const known = await this.#counts.get(teamId);
    if (known) known.jobs += 1;
  }

  /** One count at a time: a thousand requests that find the team full wait for the same one. */
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
