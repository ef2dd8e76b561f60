import { Gathered } from '../../../platform/core/gathered.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../types.ts';
import { concernsAll, holdRouters, insertJobs, selectJobsByKeys } from './store.ts';
import type { JobInsert } from './store.ts';

/** Jobs of one transaction: a script has 2,000 characters, and the next transaction waits for it. */
const JOBS_AT_ONCE = 100;

/** A job that is asked for. */
export interface Submission {
  values: JobInsert;
  /** Since when a job with the key that the caller chose is the same job, milliseconds; undefined without such a key. */
  sameSince: number | undefined;
  /** False when the team has too many open jobs: only an earlier one may be found. */
  mayBeNew: boolean;
  beside?: BesideJobs | undefined;
}

/** Stores more in the transaction of new jobs, those of one call of all that have the same function. If it throws, none of them is stored. */
export type BesideJobs = (tx: Tx, jobs: readonly JobRecord[]) => Promise<void>;

/** What became of it. */
export type Intake = { job: JobRecord; isNew: boolean } | 'no_router' | 'over_quota';

/**
 * Stores jobs; those that come together in one transaction, because on PostgreSQL each statement is a round trip and each transaction a flush.
 * None fails or waits for another: what cannot be stored with the others is stored by itself.
 */
export class JobIntake {
  readonly #storage: Storage;
  readonly #together: Gathered<Submission, Intake | undefined>;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#together = new Gathered({
      most: JOBS_AT_ONCE,
      // The second of two with one key finds the job of the first.
      keyOf: ({ values, sameSince }) =>
        sameSince === undefined ? values.id : `${values.teamId} ${values.routerId} ${values.idempotencyKey}`,
      run: (submissions) => this.#storeTogether(submissions),
    });
  }

  /** The job is on disk when this resolves. @throws AppError when it cannot be stored, or it is unknown whether it is */
  async store(submission: Submission): Promise<Intake> {
    const intake = await this.#together.call(submission);
    if (intake !== undefined) return intake;
    const [alone] = await this.#storage.writes.write((tx) => this.#storeAll(tx, [submission], { wait: true }));
    return alone!;
  }

  /** Takes no further jobs, and resolves when the earlier ones are stored. */
  stop(): Promise<void> {
    return this.#together.stop();
  }

  /** @returns undefined for those that have to be stored by themselves */
  async #storeTogether(submissions: readonly Submission[]): Promise<(Intake | undefined)[]> {
    try {
      return await this.#storage.writes.write((tx) => this.#storeAll(tx, submissions, { wait: false }));
    } catch (error) {
      if (submissions.length === 1 || concernsAll(error)) throw error;
      return submissions.map(() => undefined);
    }
  }

  async #storeAll(tx: Tx, submissions: readonly Submission[], { wait }: { wait: boolean }): Promise<(Intake | undefined)[]> {
    const keyed = submissions.filter((submission) => submission.sameSince !== undefined);
    const found = await selectJobsByKeys(
      tx,
      keyed.map(({ values, sameSince }) => ({ ...values, since: sameSince! })),
    );
    const earlier = new Map(keyed.map((submission, index) => [submission, found[index]]));
    const fresh = submissions.filter((submission) => !earlier.get(submission) && submission.mayBeNew);
    const routers = await this.#holdRouters(tx, fresh, { wait });
    const stored = fresh.filter(({ values }) => routers.get(values.routerId) === values.teamId).map(({ values }) => values);
    const jobs = new Map((await insertJobs(tx, stored)).map((job) => [job.id, job]));
    for (const [beside, its] of Map.groupBy(fresh, (submission) => submission.beside))
      await beside?.(
        tx,
        its.flatMap(({ values }) => jobs.get(values.id) ?? []),
      );
    return submissions.map((submission) => {
      const first = earlier.get(submission);
      if (first) return { job: first, isNew: false };
      if (!submission.mayBeNew) return 'over_quota';
      const job = jobs.get(submission.values.id);
      if (job) return { job, isNew: true };
      return wait ? 'no_router' : undefined;
    });
  }

  async #holdRouters(tx: Tx, submissions: readonly Submission[], options: { wait: boolean }): Promise<Map<string, string>> {
    const ids = new Set(submissions.map(({ values }) => values.routerId));
    return ids.size === 0 ? new Map() : holdRouters(tx, this.#storage.engine, [...ids], options);
  }
}
