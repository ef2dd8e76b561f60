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

/** Candidates of one team: somewhat more than it may send at once. */
const LOOK_AT = 20;
/** The backstop for what no notice woke: events of another process, claims that have run out. */
const POLL_EVERY_MS = 30_000;
/** Events whose transition was stored without one, noted in one go. */
const MISSED_AT_ONCE = 200;

export interface SenderDeps extends Omit<DeliverDeps, 'stop'> {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: WebhookRules;
  /** Writes the events that a transition left out; at most so many. */
  noteMissed: (limit: number) => Promise<unknown>;
}

/**
 * Sends what is due: woken by transitions, by the moment of the next attempt, and slowly by itself. Nothing here is
 * durable; a process that dies leaves claims behind that run out.
 */
export class Sender {
  readonly #deps: SenderDeps;
  /** Attempts under way: of teams, and of their receivers. */
  readonly shares: FairShares;
  readonly #sending = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #wakeAgain = false;
  /** By the elapsed clock. */
  #nextNoteAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.shares = new FairShares(deps.rules.atOnce);
  }

  /** Looks for what is due, now or once the present look is over. */
  wake(): void {
    if (this.#stopped) return;
    this.#wakeAgain = true;
    this.#looking ??= this.#look();
  }

  /** Takes nothing new, gives attempts under way a moment, then cuts them off: they count as never made. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
    const cutOff = setTimeout(() => this.#stop.abort(), this.#deps.rules.stopWithinMs);
    await Promise.all(this.#sending);
    clearTimeout(cutOff);
  }

  /** Never rejects. */
  async #look(): Promise<void> {
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
    this.#looking = undefined;
  }

  /** Looks again at the moment, which may have come while the database was asked, and in any case after a while. */
  #wakeAt(next: number | null): void {
    if (this.#stopped) return;
    const wait = next === null ? POLL_EVERY_MS : Math.min(next - this.#deps.clock.now(), POLL_EVERY_MS);
    if (wait <= 0) this.#wakeAgain = true;
    else this.#timer = this.#deps.clock.setTimeout(() => this.wake(), wait);
  }

  /** Starts whatever may be sent now. @returns the moment when something more falls due */
  async #sendDue(): Promise<number | null> {
    const { storage, clock } = this.#deps;
    await this.#noteMissed();
    let lookedAt = clock.now();
    for (;;) {
      if (this.shares.taken >= this.shares.limits.total || this.#stopped) break;
      lookedAt = clock.now();
      const sent = await this.#claim(await this.#takeDue(lookedAt));
      // Nothing is due, or someone else was quicker.
      if (sent === 0) break;
    }
    return selectNextDue(storage.db, lookedAt);
  }

  /** Chooses what may be sent now, each team and each of its receivers within its share. */
  async #takeDue(now: number): Promise<DueEvent[]> {
    const { db } = this.#deps.storage;
    const busy = new Set(this.shares.busyParties);
    const teams = (await selectDueTeams(db, 'job_events', now)).filter((teamId) => !busy.has(teamId));
    const due = await Promise.all(
      teams.map((teamId) => selectDueEvents(db, { teamId, now, busyOrigins: this.shares.busyMembers(teamId), limit: LOOK_AT })),
    );
    return chooseFairly(this.shares, due.flat(), (event) => ({ party: event.team_id, member: event.origin }));
  }

  /** Rarely needed, so not with every look. */
  async #noteMissed(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now < this.#nextNoteAt) return;
    this.#nextNoteAt = now + POLL_EVERY_MS;
    await this.#deps.noteMissed(MISSED_AT_ONCE);
  }

  /** @returns how many it has got, and sends */
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

  /** Never rejects: what cannot be recorded is sent again once its claim has run out. */
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
