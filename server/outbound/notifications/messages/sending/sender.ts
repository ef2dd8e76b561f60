import type { FairShares } from '../../../../../runtime/fair-shares.ts';
import { DueWork } from '../../../../platform/core/due-work.ts';
import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import { serverOf } from '../../channels/bucket.ts';
import { limitsOf } from '../channel-use.ts';
import { takeFrom } from '../buckets/store.ts';
import { deliver } from './deliver.ts';
import type { DeliverDeps, Granted } from './deliver.ts';
import { claimMessages, holdFree, postpone, postponeWaiting, selectDueMessages, selectDueTeams, selectNextMessage } from './store.ts';
import type { DueMessage } from './store.ts';

/** Candidates of one team: slightly more than it may send at once. */
const CANDIDATES = 20;
/** Fallback poll for missed wake-ups: messages of another process, expired claims. */
const POLL_EVERY_MS = 30_000;

export interface SenderDeps extends DeliverDeps {
  /** Something has become of a message of this team. */
  onAttempt: (teamId: string) => void;
}

/** Sends due messages, as `DueWork` says, at the rates of their buckets. */
export class MessageSender {
  readonly #deps: SenderDeps;
  readonly #work: DueWork<DueMessage, Granted>;
  /** Monotonic. */
  #lookedAt: number | undefined;
  /** Passes so far. */
  #turn = 0;

  constructor(deps: SenderDeps) {
    const { storage, clock, log, rules } = deps;
    this.#deps = deps;
    this.#work = new DueWork({
      clock,
      log,
      atOnce: rules.atOnce,
      pollMs: POLL_EVERY_MS,
      stopWithinMs: rules.stopWithinMs,
      failure: 'notifications could not be read',
      selectDue: (now, shares) => this.#selectDue(now, shares),
      holderOf: (message) => ({ party: message.team_id, member: serverOf(message.bucket) }),
      claim: (messages, now) => storage.writes.write((tx) => this.#claim(tx, messages, now)),
      run: (granted, stop) => this.#send(granted, stop),
      selectNextDue: async (now) => {
        const next = await selectNextMessage(storage.db, now);
        this.#lookedAt = clock.monotonic();
        return next;
      },
    });
  }

  /** Messages in progress, per team and server. */
  get shares(): FairShares {
    return this.#work.shares;
  }

  /** When a look last came to its end, by the monotonic clock. */
  get lookedAt(): number | undefined {
    return this.#lookedAt;
  }

  wake(): void {
    this.#work.wake();
  }

  /** Resolves when nothing is being sent. */
  idle(): Promise<void> {
    return this.#work.idle();
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  async #selectDue(now: number, shares: FairShares): Promise<DueMessage[]> {
    const { db } = this.#deps.storage;
    const busy = new Set(shares.busyParties);
    const waiting = (await selectDueTeams(db, 'messages', now)).filter((teamId) => !busy.has(teamId));
    // An account of all teams may have one token at a time: each team gets its turn, however long the queue of another is.
    this.#turn = (this.#turn + 1) % Math.max(1, waiting.length);
    const teams = [...waiting.slice(this.#turn), ...waiting.slice(0, this.#turn)];
    const due = await Promise.all(
      teams.map((teamId) => selectDueMessages(db, { teamId, now, busyServers: shares.busyMembers(teamId), limit: CANDIDATES })),
    );
    return due.flat();
  }

  /** Claims as many messages of each bucket as it has tokens; the others are due when it has the next. */
  async #claim(tx: Tx, messages: readonly DueMessage[], now: number): Promise<Granted[]> {
    const { channels, rules, storage } = this.#deps;
    const ids = messages.map(({ id }) => id);
    const free = await holdFree(tx, storage.engine, ids, now);
    const granted: string[] = [];
    let isPostponed = false;
    const probes = new Map<string, number | null>();
    const byBucket = new Map<string, DueMessage[]>();
    for (const message of messages.filter(({ id }) => free.has(id))) {
      const { id, bucket, expires_at: expiresAt } = message;
      // Nothing is sent of what has expired: it takes no token, and does not try an account that was refused.
      if (expiresAt !== null && expiresAt <= now) granted.push(id);
      else byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), message]);
    }
    // In the same order everywhere, so that two processes do not wait for each other.
    for (const [bucket, all] of [...byBucket].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const inTurn = all.map(({ id }) => id);
      const limits = limitsOf(channels, all[0]!.channel);
      if (!limits) {
        // A channel that was switched off meanwhile: each message says so.
        granted.push(...inTurn);
        continue;
      }
      const tokens = await takeFrom(tx, bucket, limits, all.length, now);
      const taking = inTurn.slice(0, tokens.granted);
      granted.push(...taking);
      for (const id of taking) probes.set(id, tokens.probe);
      if (taking.length === inTurn.length) continue;
      isPostponed = true;
      await postpone(tx, inTurn.slice(tokens.granted), tokens);
      // The others of the bucket would stand before messages to other providers, pass after pass.
      if (tokens.granted === 0) await postponeWaiting(tx, { teams: new Set(all.map(({ team_id: id }) => id)), bucket, now }, tokens);
    }
    // Nothing begins, so nothing would wake it: behind these may be others that are due.
    if (isPostponed && granted.length === 0) this.#work.wake();
    const claimed = await claimMessages(tx, { ids: granted, claim: newId(now), now, until: now + rules.leaseMs });
    return claimed.map((message) => ({ id: message.id, message, probe: probes.get(message.id) ?? null }));
  }

  /** Never rejects: a message that cannot be recorded is sent again when its claim expires. */
  async #send(granted: Granted, stop: AbortSignal): Promise<void> {
    const { team_id: teamId } = granted.message;
    try {
      await deliver(granted, this.#deps, stop);
      this.#deps.onAttempt(teamId);
    } catch (error) {
      this.#deps.log.error({ err: error, team_id: teamId }, 'the delivery of a notification could not be recorded');
    }
  }
}
