import type { FairShares } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { DueWork } from '../../platform/core/due-work.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { deliver } from './deliver.ts';
import type { DeliverDeps } from './deliver.ts';
import { claimEvents, selectDueEvents, selectDueTeams, selectNextDue } from './store.ts';
import type { DueEvent } from './store.ts';
import type { ClaimedEvent, WebhookRules } from './types.ts';

/** Candidates of one team: slightly more than it may send at once. */
const CANDIDATES = 20;
/** Fallback poll for missed wake-ups: events of another process, expired claims. */
const POLL_EVERY_MS = 30_000;
/** Missing events of stored transitions, inserted per pass. */
const MISSED_AT_ONCE = 200;

export interface SenderDeps extends Omit<DeliverDeps, 'stop'> {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: WebhookRules;
  /** Inserts events that are missing for stored transitions, at most `limit`. */
  insertMissedEvents: (limit: number) => Promise<unknown>;
}

/** Sends due events, as `DueWork` says. Transitions wake it. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #work: DueWork<DueEvent, ClaimedEvent>;
  /** Elapsed time, milliseconds. */
  #nextInsertAt = Number.NEGATIVE_INFINITY;

  constructor(deps: SenderDeps) {
    const { storage, clock, log, rules } = deps;
    this.#deps = deps;
    this.#work = new DueWork({
      clock,
      log,
      atOnce: rules.atOnce,
      pollMs: POLL_EVERY_MS,
      stopWithinMs: rules.stopWithinMs,
      failure: 'job updates could not be read',
      prepare: () => this.#insertMissed(),
      selectDue: (now, shares) => this.#selectDue(now, shares),
      holderOf: (event) => ({ party: event.team_id, member: event.origin }),
      claim: (events, now) => {
        const claim = { ids: events.map(({ id }) => id), claim: newId(now), now, until: now + rules.leaseMs };
        return storage.writes.write((tx) => claimEvents(tx, claim));
      },
      run: (event, stop) => this.#send(event, stop),
      selectNextDue: (now) => selectNextDue(storage.db, now),
    });
  }

  /** Attempts in progress, per team and per receiver. */
  get shares(): FairShares {
    return this.#work.shares;
  }

  /** Checks for due events, now or after the current pass. */
  wake(): void {
    this.#work.wake();
  }

  /** Starts nothing new, gives attempts in progress a short time, then aborts them: aborted attempts do not count. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  async #selectDue(now: number, shares: FairShares): Promise<DueEvent[]> {
    const { db } = this.#deps.storage;
    const busy = new Set(shares.busyParties);
    const teams = (await selectDueTeams(db, 'job_events', now)).filter((teamId) => !busy.has(teamId));
    const due = await Promise.all(
      teams.map((teamId) => selectDueEvents(db, { teamId, now, busyOrigins: shares.busyMembers(teamId), limit: CANDIDATES })),
    );
    return due.flat();
  }

  /** Rarely needed, so not at every pass. */
  async #insertMissed(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now < this.#nextInsertAt) return;
    this.#nextInsertAt = now + POLL_EVERY_MS;
    await this.#deps.insertMissedEvents(MISSED_AT_ONCE);
  }

  /** Never rejects: an event that cannot be recorded is sent again when its claim expires. */
  async #send(event: ClaimedEvent, stop: AbortSignal): Promise<void> {
    try {
      await deliver(event, { ...this.#deps, stop });
    } catch (error) {
      this.#deps.log.error({ err: error, job_id: event.jobId }, 'the delivery of a job update could not be recorded');
    }
  }
}
