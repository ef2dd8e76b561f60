import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { FairTurns } from '../../../platform/core/fair-turns.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { JobsService } from '../../jobs/service.ts';
import type { JobRecord } from '../../jobs/types.ts';
import type { Members } from '../../../platform/nodes/members.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { campaignOfKey } from '../job-key.ts';
import type { CampaignChange } from '../types.ts';
import { runPass } from './pass.ts';
import { selectCampaignsToCorrect, selectOpenCampaigns } from './store.ts';

/** Fallback poll for missed wake-ups: an unavailable database, results recorded by another process. */
const POLL_EVERY_MS = 10_000;
/** Ends of jobs within this time share a pass. */
const GATHER_MS = 50;
/**
 * Rounds at the same time, in total and per team. Each is a short transaction and up to a hundred new jobs. After each round the next team
 * has its turn, so that a campaign over thousands of routers delays no other.
 */
export const ROUNDS_AT_ONCE = { total: 4, perParty: 2, perMember: 1 };

/** The runner's state of a campaign. */
export interface CampaignKey {
  id: string;
  teamId: string;
}

export interface RunnerDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'cancelIfOpen' | 'changes'>;
  clock: Clock;
  log: Log;
  onChange: (change: CampaignChange) => void;
  /** The figures of a campaign may have changed. Called often. */
  onProgress: (campaign: CampaignKey) => void;
  /** Of several control planes: who advances a campaign. Two that both believe it take turns (store.ts). */
  members?: Pick<Members, 'isOwn'> | undefined;
}

type Question = (db: Storage['db']) => Promise<CampaignKey[]>;

/**
 * Advances campaigns: at once on request, shortly after one of their jobs has ended, when their rate allows the next job, and periodically.
 * Nothing here is durable. One pass of a campaign runs at a time.
 */
export class CampaignRunner {
  readonly #deps: RunnerDeps;
  /** By team and campaign. */
  readonly turns = new FairTurns(ROUNDS_AT_ONCE);
  readonly #stopping = new AbortController();
  /** Campaigns with a requested pass that has not begun. */
  readonly #due = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  /** `at` in monotonic time. */
  readonly #timers = new Map<string, { at: number; timer: Timer }>();
  readonly #polls: Periodic;
  #starting: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#polls = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: POLL_EVERY_MS,
      failure: 'campaigns could not be read',
      level: 'error',
      run: () => this.#runAll([selectOpenCampaigns]),
    });
  }

  /** Continues campaigns of an earlier process. */
  start(): void {
    this.#unsubscribe = this.#deps.jobs.changes.subscribe((job) => this.#onChange(job));
    this.#starting = this.#runAll([selectOpenCampaigns, selectCampaignsToCorrect]).then(() => this.#polls.start());
  }

  /** Stops after the current step; the next start continues. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe?.();
    for (const { timer } of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    await this.#polls.stop();
    await this.#starting;
    await Promise.all(this.#working.values());
  }

  /** Resolves after a pass that began after this call. Never rejects: failures are logged and retried. */
  run(campaign: CampaignKey): Promise<void> {
    this.#due.add(campaign.id);
    const working = this.#working.get(campaign.id) ?? this.#work(campaign);
    this.#working.set(campaign.id, working);
    return working;
  }

  /** Another control plane has changed the campaign, or has ended one of its jobs. */
  changedElsewhere(campaign: CampaignKey): void {
    if (!this.#isOwn(campaign)) return;
    this.#deps.onProgress(campaign);
    this.#runIn(campaign, GATHER_MS);
  }

  /** Whoever it is hears of changes by others, and finds with its poll what it did not hear of. */
  #isOwn({ id }: CampaignKey): boolean {
    return this.#deps.members?.isOwn(id) !== false;
  }

  async #work(campaign: CampaignKey): Promise<void> {
    // The caller stores this promise first.
    await Promise.resolve();
    while (!this.#stopping.signal.aborted && this.#due.has(campaign.id)) await this.#pass(campaign);
    // In the same event-loop turn as the check above, so that a pass requested from now on starts again.
    this.#working.delete(campaign.id);
  }

  async #pass(campaign: CampaignKey): Promise<void> {
    const { signal } = this.#stopping;
    const holder = { party: campaign.teamId, member: campaign.id };
    this.#due.delete(campaign.id);
    try {
      const until = await runPass(this.#deps, campaign.id, signal, (round) => this.turns.run(holder, round));
      if (until !== undefined && this.#isOwn(campaign)) this.#runIn(campaign, until - this.#deps.clock.now());
    } catch (error) {
      this.#deps.log.error({ err: error, campaign_id: campaign.id }, 'a pass of a campaign failed');
    }
    if (this.#isOwn(campaign)) this.#deps.onProgress(campaign);
  }

  /** One timer per campaign: the earliest. */
  #runIn(campaign: CampaignKey, waitMs: number): void {
    const { clock } = this.#deps;
    const { id: campaignId } = campaign;
    const at = clock.monotonic() + waitMs;
    const set = this.#timers.get(campaignId);
    if (this.#stopping.signal.aborted || (set && set.at <= at)) return;
    set?.timer.cancel();
    const timer = clock.setTimeout(() => {
      this.#timers.delete(campaignId);
      void this.run(campaign);
    }, waitMs);
    this.#timers.set(campaignId, { at, timer });
  }

  #onChange(job: JobRecord): void {
    const campaignId = campaignOfKey(job.idempotency_key);
    if (campaignId === undefined) return;
    const campaign = { id: campaignId, teamId: job.team_id };
    if (!this.#isOwn(campaign)) return;
    this.#deps.onProgress(campaign);
    const hasNews = job.phase !== 'queued' && job.phase !== 'running' && (job.phase !== 'accepted' || job.completed_at !== null);
    if (hasNews) this.#runIn(campaign, GATHER_MS);
  }

  /** Never rejects. */
  async #runAll(questions: readonly Question[]): Promise<void> {
    try {
      const lists = await Promise.all(questions.map((ask) => ask(this.#deps.storage.db)));
      const own = lists.flat().filter((campaign) => this.#isOwn(campaign));
      await Promise.all(own.map((campaign) => this.run(campaign)));
    } catch (error) {
      this.#deps.log.error({ err: error }, 'campaigns could not be read');
    }
  }
}
