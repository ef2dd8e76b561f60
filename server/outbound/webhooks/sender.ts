import { FairShares } from '../../../runtime/fair-shares.ts';
import { chooseFairly } from '../../platform/core/choose-fairly.ts';
import type { Clock, Timer } from '../../platform/core/clock.ts';
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

/**
 * Sends due events. Transitions, the time of the next attempt and a slow poll wake it. Nothing here is
 * durable; the claims of a killed process expire.
 */
export class Sender {
  readonly #deps: SenderDeps;
  /** Attempts in progress, per team and per receiver. */
  readonly shares: FairShares;
  readonly #sending = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #wakeAgain = false;
  /** Elapsed time, milliseconds. */
  #nextInsertAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.shares = new FairShares(deps.rules.atOnce);
  }

  /** Checks for due events, now or after the current pass. */
  wake(): void {
    if (this.#stopped) return;
    this.#wakeAgain = true;
    this.#pass ??= this.#runPass();
  }

  /** Starts nothing new, gives attempts in progress a short time, then aborts them: aborted attempts do not count. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pass;
    const cutOff = setTimeout(() => this.#stop.abort(), this.#deps.rules.stopWithinMs);
    await Promise.all(this.#sending);
    clearTimeout(cutOff);
  }

  /** Never rejects. */
  async #runPass(): Promise<void> {
    const { log } = this.#deps;
    while (this.#wakeAgain && !this.#stopped) {
      this.#wakeAgain = false;
      this.#timer?.cancel();
      const next = await this.#sendDue().catch((error: unknown) => {
        log.error({ err: error }, 'job updates could not be read');
        return null;
      });
      this.#wakeAt(next);
    }
    this.#pass = undefined;
  }

  /** Schedules the next pass at the given time, which may already have passed, and at the latest after the poll interval. */
  #wakeAt(next: number | null): void {
    if (this.#stopped) return;
    const wait = next === null ? POLL_EVERY_MS : Math.min(next - this.#deps.clock.now(), POLL_EVERY_MS);
    if (wait <= 0) this.#wakeAgain = true;
    else this.#timer = this.#deps.clock.setTimeout(() => this.wake(), wait);
  }

  /** Starts all attempts that are possible now. @returns time at which the next event falls due */
  async #sendDue(): Promise<number | null> {
    const { storage, clock } = this.#deps;
    await this.#insertMissed();
    let checkedAt = clock.now();
    for (;;) {
      if (this.shares.taken >= this.shares.limits.total || this.#stopped) break;
      checkedAt = clock.now();
      const sent = await this.#claim(await this.#takeDue(checkedAt));
      // Nothing is due, or another process was faster.
      if (sent === 0) break;
    }
    return selectNextDue(storage.db, checkedAt);
  }

  /** Selects events to send now, within the share of each team and receiver. */
  async #takeDue(now: number): Promise<DueEvent[]> {
    const { db } = this.#deps.storage;
    const busy = new Set(this.shares.busyParties);
    const teams = (await selectDueTeams(db, 'job_events', now)).filter((teamId) => !busy.has(teamId));
    const due = await Promise.all(
      teams.map((teamId) => selectDueEvents(db, { teamId, now, busyOrigins: this.shares.busyMembers(teamId), limit: CANDIDATES })),
    );
    return chooseFairly(this.shares, due.flat(), (event) => ({ party: event.team_id, member: event.origin }));
  }

  /** Rarely needed, so not at every pass. */
  async #insertMissed(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now < this.#nextInsertAt) return;
    this.#nextInsertAt = now + POLL_EVERY_MS;
    await this.#deps.insertMissedEvents(MISSED_AT_ONCE);
  }

  /** Claims events and starts to send them. @returns the number claimed */
  async #claim(taken: readonly DueEvent[]): Promise<number> {
    if (taken.length === 0) return 0;
    const { storage, clock, rules } = this.#deps;
    const now = clock.now();
    const claim = { ids: taken.map((event) => event.id), claim: newId(now), now, until: now + rules.leaseMs };
    let claimed: ClaimedEvent[] = [];
    try {
      claimed = await storage.writes.write((tx) => claimEvents(tx, claim));
    } finally {
      const ids = new Set(claimed.map((event) => event.id));
      for (const event of taken) if (!ids.has(event.id)) this.shares.giveBack({ party: event.team_id, member: event.origin });
    }
    for (const event of claimed) {
      const sending = this.#send(event).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
    return claimed.length;
  }

  /** Never rejects: an event that cannot be recorded is sent again when its claim expires. */
  async #send(event: ClaimedEvent): Promise<void> {
    try {
      await deliver(event, { ...this.#deps, stop: this.#stop.signal });
    } catch (error) {
      this.#deps.log.error({ err: error, job_id: event.jobId }, 'the delivery of a job update could not be recorded');
    } finally {
      this.shares.giveBack({ party: event.teamId, member: event.origin });
      this.wake();
    }
  }
}
