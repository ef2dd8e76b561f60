import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { notFound } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { AddressRules } from '../../platform/core/public-address.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { removeInBatches } from '../../platform/core/removal-batches.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';
import { nameServerResolver } from '../../platform/outgoing/lookup.ts';
import type { ResolveName } from '../../platform/outgoing/lookup.ts';
import { Poster } from '../../platform/outgoing/poster.ts';
import { TeamSecrets } from './secrets/team-secrets.ts';
import type { SecretState } from './secrets/team-secrets.ts';
import { Sender } from './sender.ts';
import { deleteSettledBefore, hastenEvents, resendEvent, selectAttempts, selectEvent, selectEvents } from './store.ts';
import { DEFAULT_WEBHOOK_RULES } from './types.ts';
import type { Delivery, WebhookRules } from './types.ts';

const SWEEP_EVERY_MS = 3600_000;

export interface WebhooksDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  jobs: Pick<JobsService, 'getJob' | 'changes' | 'insertMissedEvents'>;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
  targets: AddressRules;
  rules?: WebhookRules;
  /** Name resolution; the system's name servers by default. */
  resolve?: ResolveName;
  random?: () => number;
}

/** Sends job updates to `notify_url`: in order, signed, at least once. */
export class WebhooksService {
  readonly #deps: WebhooksDeps;
  readonly #secrets: TeamSecrets;
  readonly #poster: Poster;
  readonly #sender: Sender;
  #unsubscribe: (() => void) | undefined;
  readonly #sweeps: Periodic;

  constructor(deps: WebhooksDeps) {
    const { storage, clock, log, jobs, targets, rules = DEFAULT_WEBHOOK_RULES } = deps;
    this.#deps = deps;
    this.#secrets = new TeamSecrets(deps);
    this.#sweeps = new Periodic({
      clock,
      log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'old job updates could not be deleted',
      run: (signal) => this.#sweep(signal),
    });
    this.#poster = new Poster({ rules: targets, resolve: deps.resolve ?? nameServerResolver(), deadlineMs: rules.deadlineMs });
    this.#sender = new Sender({
      storage,
      clock,
      log,
      rules,
      secrets: this.#secrets,
      poster: this.#poster,
      random: deps.random ?? Math.random,
      insertMissedEvents: (limit) => jobs.insertMissedEvents(limit),
    });
  }

  /** Attempts in progress. */
  get attempts(): SharedUse {
    return this.#sender.shares;
  }

  /** Sends the events that an earlier process left, and all new ones. */
  start(): void {
    this.#unsubscribe = this.#deps.jobs.changes.subscribe((job) => {
      if (job.notify_url !== null) this.#sender.wake();
    });
    this.#sender.wake();
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#sweeps.stop();
    await this.#sender.stop();
    await this.#poster.close();
  }

  /** Sent and pending events of the job, newest first; the page counts by `seq`. @throws AppError `not_found` for the job */
  async listDeliveries(teamId: string, routerId: string, jobId: string, page: Page): Promise<Delivery[]> {
    const { storage, jobs } = this.#deps;
    const job = await jobs.getJob(teamId, routerId, jobId);
    const events = await selectEvents(storage.db, { teamId, jobId: job.id, page });
    const attempts = await selectAttempts(
      storage.db,
      teamId,
      events.map((event) => event.id),
    );
    return events.map((event) => ({ event, attempts: attempts.filter((attempt) => attempt.event_id === event.id) }));
  }

  /**
   * Sends an event again at once, with the same id and body. A pending event is tried now, after those before it.
   * @throws AppError `not_found` for the job or the event
   */
  async resend(teamId: string, routerId: string, jobId: string, eventId: string): Promise<Delivery> {
    const { storage, jobs, clock } = this.#deps;
    const job = await jobs.getJob(teamId, routerId, jobId);
    const event = await selectEvent(storage.db, teamId, job.id, eventId);
    if (!event) throw notFound('delivery');
    const now = clock.now();
    await storage.writes.write(async (tx) => {
      await resendEvent(tx, { id: event.id, teamId, now });
      await hastenEvents(tx, { teamId, jobId: job.id, seq: event.seq, now });
    });
    this.#sender.wake();
    const asked = await selectEvent(storage.db, teamId, job.id, eventId);
    return { event: asked ?? event, attempts: await selectAttempts(storage.db, teamId, [event.id]) };
  }

  /** The secrets that sign what is sent to the team's own receivers, newest first. */
  signingSecrets(teamId: string): Promise<string[]> {
    return this.#secrets.signing(teamId);
  }

  /** Undefined while the team has no secret. */
  secretState(teamId: string): Promise<SecretState | undefined> {
    return this.#secrets.state(teamId);
  }

  /** Creates a new secret, returned only here; the previous one also signs for `overlapMs`. @throws AppError `conflict` */
  rotateSecret(teamId: string, overlapMs: number): Promise<SecretState & { secret: string }> {
    return this.#secrets.rotate(teamId, overlapMs);
  }

  /** @throws a storage error; the next sweep tries again */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { storage, clock, rules = DEFAULT_WEBHOOK_RULES } = this.#deps;
    const before = clock.now() - rules.keepMs;
    await removeInBatches(storage, (tx, limit) => deleteSettledBefore(tx, before, limit), { signal });
  }
}
