import PQueue from 'p-queue';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { JobsService } from '../../jobs/service.ts';
import type { JobRecord } from '../../jobs/types.ts';
import type { Storage } from '../../storage/db.ts';
import { campaignOfKey } from '../job-key.ts';
import type { CampaignChange } from '../types.ts';
import { runPass } from './pass.ts';
import { selectCampaignsToCorrect, selectOpenCampaigns } from './store.ts';

/** The backstop for what no notice woke: a database that was away, results that another program wrote down. */
const POLL_EVERY_MS = 10_000;
/** Ends of jobs that come within this time share a pass. */
const GATHER_MS = 50;
/** Passes at the same time, all campaigns together: each is a row of short transactions. */
const PASSES_AT_ONCE = 4;

export interface RunnerDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'takeBackJob' | 'changes'>;
  clock: Clock;
  log: Log;
  onChange: (change: CampaignChange) => void;
}

/**
 * Moves campaigns on: at once when asked, soon after a job of theirs has ended, when their rate allows the next job, and
 * now and then. Nothing here is durable. One pass of a campaign at a time.
 */
export class CampaignRunner {
  readonly #deps: RunnerDeps;
  readonly #queue = new PQueue({ concurrency: PASSES_AT_ONCE });
  readonly #stopping = new AbortController();
  /** Campaigns that want a pass that has not begun. */
  readonly #due = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, { at: number; timer: Timer }>();
  #pollTimer: Timer | undefined;
  #polling: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Carries on with what an earlier run of the program left. */
  start(): void {
    this.#unsubscribe = this.#deps.jobs.changes.subscribe((job) => this.#onChange(job));
    this.#poll([selectOpenCampaigns, selectCampaignsToCorrect]);
  }

  /** Ends after the step that is being made; the rest is done after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe?.();
    this.#pollTimer?.cancel();
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    await this.#polling;
    await Promise.all(this.#working.values());
  }

  /** Resolves after a pass that began after this call. Never rejects: what failed is logged and tried again. */
  run(campaignId: string): Promise<void> {
    this.#due.add(campaignId);
    const working = this.#working.get(campaignId) ?? this.#work(campaignId);
    this.#working.set(campaignId, working);
    return working;
  }

  async #work(campaignId: string): Promise<void> {
    // Whoever called has to have noted this promise first.
    await Promise.resolve();
    while (!this.#stopping.signal.aborted && this.#due.has(campaignId)) {
      await this.#queue.add(() => this.#pass(campaignId));
    }
    // In the same breath as the check above, so that a run that is asked for now begins anew.
    this.#working.delete(campaignId);
  }

  async #pass(campaignId: string): Promise<void> {
    this.#due.delete(campaignId);
    try {
      const until = await runPass(this.#deps, campaignId, this.#stopping.signal);
      if (until !== undefined) this.#runAt(campaignId, until);
    } catch (error) {
      this.#deps.log.error({ err: error, campaign_id: campaignId }, 'a campaign could not be moved on');
    }
  }

  /** One timer for each campaign: the earliest. */
  #runAt(campaignId: string, at: number): void {
    const { clock } = this.#deps;
    const set = this.#timers.get(campaignId);
    if (this.#stopping.signal.aborted || (set && set.at <= at)) return;
    set?.timer.cancel();
    const timer = clock.setTimeout(() => {
      this.#timers.delete(campaignId);
      void this.run(campaignId);
    }, at - clock.now());
    this.#timers.set(campaignId, { at, timer });
  }

  #onChange(job: JobRecord): void {
    const campaignId = campaignOfKey(job.idempotency_key);
    const hasNews = job.phase !== 'queued' && job.phase !== 'running' && (job.phase !== 'accepted' || job.completed_at !== null);
    if (campaignId !== undefined && hasNews) this.#runAt(campaignId, this.#deps.clock.now() + GATHER_MS);
  }

  #poll(questions: readonly ((db: Storage['db']) => Promise<string[]>)[]): void {
    this.#polling = this.#runAll(questions).then(() => {
      if (this.#stopping.signal.aborted) return;
      this.#pollTimer = this.#deps.clock.setTimeout(() => this.#poll([selectOpenCampaigns]), POLL_EVERY_MS);
    });
  }

  /** Never rejects. */
  async #runAll(questions: readonly ((db: Storage['db']) => Promise<string[]>)[]): Promise<void> {
    try {
      const lists = await Promise.all(questions.map((ask) => ask(this.#deps.storage.db)));
      await Promise.all(lists.flat().map((id) => this.run(id)));
    } catch (error) {
      this.#deps.log.error({ err: error }, 'campaigns could not be read');
    }
  }
}
