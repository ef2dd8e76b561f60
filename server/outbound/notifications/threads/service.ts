import type { Clock, Timer } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import { isMuted } from '../groups/mute.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { takeOver } from './acknowledging/acknowledge.ts';
import type { Taker } from './acknowledging/acknowledge.ts';
import { lockTeam, selectThread, updateThread } from './acknowledging/store.ts';
import type { CampaignOf } from './match.ts';
import { insertMissedEnds } from './missed/store.ts';
import { routeSome } from './routing/route.ts';
import { selectListeners, selectTeamsToRoute } from './routing/store.ts';
import { hasLongSilenced, makeLongSilencedDue, makeMutedDue, selectDueTeams, selectMutedGroups, selectNextDue } from './telling/store.ts';
import { earliest } from './telling/care.ts';
import { tellSome } from './telling/tell.ts';
import type { WriteMessages } from './telling/tell.ts';
import type { ThreadRow } from './types.ts';

/** The look that finds what no hint told: facts of another process, mutes that somebody ended. */
const LOOK_EVERY_MS = 30_000;
/** Hints within this time share a pass: a heartbeat resolves the faults of all routers of an agent one after the other. */
const GATHER_MS = 200;
/** Ends that no notice told are rare, and finding them reads every record that is open. */
const MISSED_EVERY_MS = 10 * 60_000;
const MISSED_AT_ONCE = 500;
/** Digests of a team in one round, each in its own transaction of a few milliseconds: facts and other teams do not wait for all of them. */
const DIGESTS_AT_ONCE = 50;

export interface ThreadRules {
  /** Routers whose agent is back have so long to answer before they are told, milliseconds. */
  afterAgentMs: number;
}

/** Messages that are made at times that people choose. */
export interface Digests {
  /** Teams with some that are due. */
  teams: (now: number) => Promise<string[]>;
  /** People of the team with one that is due. */
  readers: (teamId: string, now: number) => Promise<string[]>;
  /** @returns false when there is none any more */
  make: (tx: Tx, reader: { teamId: string; userId: string }, now: number) => Promise<boolean>;
  /** When the next one is due after a time; null for none. */
  nextAt: (after: number) => Promise<number | null>;
}

/** What is decided in one transaction: what is due of a team, or the digest of a person in it. */
interface Unit {
  teamId: string;
  userId?: string;
}

export interface ThreadsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: ThreadRules;
  campaignOf: CampaignOf;
  /** Stores messages in the transaction that decides them. */
  writeMessages: WriteMessages;
  /** What people read together: it is made in the same passes. */
  digests: Digests;
  /** Called after a pass that may have stored messages. */
  onMessages: () => void;
}

/**
 * Turns notices into threads, and threads into messages. All its state is in the database: hints and timers only make it faster, and any
 * process may do any step.
 */
export class ThreadsService {
  /** Threads of a team, or their messages, have changed. Covers this process only. */
  readonly changes = new Listeners<{ teamId: string }>();
  readonly #deps: ThreadsDeps;
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  /** A hint has come that no pass has seen yet. */
  #isHinted = false;
  #stopped = false;
  /** Monotonic. */
  #nextMissedAt: number;
  /** Monotonic. */
  #lookedAt: number | undefined;
  /** Teams, and people with their digests, that are left out until a time, monotonic. */
  readonly #failing = new Map<string, number>();
  /** What the last step of this pass told, by team. */
  readonly #toldLast = new Map<string, string>();

  constructor(deps: ThreadsDeps) {
    this.#deps = deps;
    this.#nextMissedAt = deps.clock.monotonic() + MISSED_EVERY_MS;
  }

  /** When a look last came to its end, by the monotonic clock. */
  get lookedAt(): number | undefined {
    return this.#lookedAt;
  }

  start(): void {
    this.wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pass;
  }

  /** A fact may have been stored. */
  wake(): void {
    // A hint that comes while one waits must not delay it.
    if (this.#stopped || this.#isHinted) return;
    this.#isHinted = true;
    if (!this.#pass) this.#lookIn(GATHER_MS);
  }

  /**
   * Somebody takes a thread over: no reminders and no escalation from now on. Everybody who was told of it hears who it is, where that joins
   * the earlier messages. Its end is told as ever. Taking over what another has is possible, and repeating it changes nothing but `until`.
   * @param until when nobody has it any more, milliseconds since 1970; null: until its end
   * @returns the thread as it is now
   * @throws AppError `not_found`; `invalid` for an `until` in the past; `conflict` for a thread that is over
   */
  async acknowledge(teamId: string, by: Taker, threadId: string, until: number | null = null): Promise<ThreadRow> {
    const { storage, clock, writeMessages } = this.#deps;
    const taken = await storage.writes.write(async (tx) => {
      const now = clock.now();
      await lockTeam(tx, teamId);
      const thread = await selectThread(tx, teamId, threadId);
      if (!thread) throw notFound('thread');
      if (until !== null && until <= now) throw invalidField('until', 'is in the past');
      if (thread.state !== 'open') throw new AppError('conflict', 'it is over already');
      const { thread: next, revision } = takeOver(thread, by, until, now);
      await updateThread(tx, next);
      if (revision) await writeMessages(tx, teamId, [revision], now);
      return next;
    });
    this.changes.publish({ teamId });
    this.#deps.onMessages();
    return taken;
  }

  /**
   * Does what is due now: a round of facts, one of telling and one of digests in turns, so that many facts of one team do not delay what is
   * due. A team that fails, or a person whose digest does, is left out for a while. @throws a storage error that concerns all teams
   */
  async run(): Promise<void> {
    const { storage, clock, writeMessages, digests, rules, campaignOf } = this.#deps;
    const { afterAgentMs } = rules;
    this.#forgetOldFailures();
    try {
      await this.#endMissed();
      await this.#endMutes();
      await this.#endSilences();
      for (let isMoving = true; isMoving && !this.#stopped;) {
        const hasRouted = await this.#round(teams(await selectTeamsToRoute(storage.db)), async ({ teamId }) => {
          const routed = await storage.writes.write((tx) => routeSome(tx, teamId, { campaignOf, afterAgentMs }, clock.now()));
          if (routed.threads > 0) this.changes.publish({ teamId });
          return routed.notices;
        });
        const hasTold = await this.#round(teams(await selectDueTeams(storage.db, clock.now())), async ({ teamId }) => {
          const due = await storage.writes.write((tx) => tellSome(tx, teamId, writeMessages, clock.now()));
          if (due.length > 0) this.changes.publish({ teamId });
          this.#refuseTheSame(teamId, due);
          return due.length;
        });
        const hasDigested = await this.#round(await this.#digestReaders(), async (reader) => {
          const isMade = await storage.writes.write((tx) => digests.make(tx, reader, clock.now()));
          if (isMade) this.changes.publish({ teamId: reader.teamId });
          return isMade ? 1 : 0;
        });
        isMoving = hasRouted || hasTold || hasDigested;
      }
      if (this.#failing.size === 0) this.#lookedAt = clock.monotonic();
    } finally {
      this.#toldLast.clear();
      this.#deps.onMessages();
    }
  }

  /** One transaction for each team or person. @returns whether any of them had something to do */
  async #round<U extends Unit>(units: readonly U[], step: (unit: U) => Promise<number>): Promise<boolean> {
    const { clock, log } = this.#deps;
    let hasMoved = false;
    for (const unit of units) {
      if (this.#stopped || this.#isLeftOut(unit)) continue;
      this.#failing.delete(nameOf(unit));
      try {
        if ((await step(unit)) > 0) hasMoved = true;
      } catch (error) {
        const { teamId, userId } = unit;
        const whose = { team_id: teamId, ...(userId === undefined ? {} : { user_id: userId }) };
        log.warn({ err: error, ...whose }, 'notifications of a team could not be decided; trying again');
        this.#failing.set(nameOf(unit), clock.monotonic() + LOOK_EVERY_MS);
      }
    }
    return hasMoved;
  }

  #isLeftOut(unit: Unit): boolean {
    return (this.#failing.get(nameOf(unit)) ?? -Infinity) > this.#deps.clock.monotonic();
  }

  /** Whose digests this round makes. */
  async #digestReaders(): Promise<{ teamId: string; userId: string }[]> {
    const { clock, digests } = this.#deps;
    const now = clock.now();
    const readers = [];
    for (const teamId of await digests.teams(now)) {
      const ofTeam = (await digests.readers(teamId, now)).map((userId) => ({ teamId, userId }));
      readers.push(...ofTeam.filter((reader) => !this.#isLeftOut(reader)).slice(0, DIGESTS_AT_ONCE));
    }
    return readers;
  }

  /** Whoever has waited is tried again if there is work; what there was may have gone another way, with its group for example. */
  #forgetOldFailures(): void {
    const now = this.#deps.clock.monotonic();
    for (const [name, until] of this.#failing) if (until <= now) this.#failing.delete(name);
  }

  /** Telling moves what was due. If a mistake of ours ever leaves it as it was, this must not go on for ever. */
  #refuseTheSame(teamId: string, due: readonly ThreadRow[]): void {
    const told = due.map(({ id, flush_at: at, pending, state, revision }) => [id, at, pending, state, revision].join(' ')).join('\n');
    if (told !== '' && this.#toldLast.get(teamId) === told) throw new Error('the same threads are due again');
    this.#toldLast.set(teamId, told);
  }

  async #endMissed(): Promise<void> {
    const { storage, clock } = this.#deps;
    if (clock.monotonic() < this.#nextMissedAt) return;
    this.#nextMissedAt = clock.monotonic() + MISSED_EVERY_MS;
    await storage.writes.write((tx) => insertMissedEnds(tx, clock.now(), MISSED_AT_ONCE));
  }

  /** A schedule ends a mute at its time. Somebody may also have changed the group or the schedule. */
  async #endMutes(): Promise<void> {
    const { storage, clock } = this.#deps;
    const muted = Map.groupBy(await selectMutedGroups(storage.db), ({ teamId }) => teamId);
    for (const [teamId, groups] of muted) {
      const listeners = new Map((await selectListeners(storage.db, teamId)).map((listener) => [listener.id, listener]));
      for (const group of groups) {
        const listener = listeners.get(group.groupId);
        if (listener && !isMuted(listener.mute, listener.schedule, clock.now()))
          await storage.writes.write((tx) => makeMutedDue(tx, group, clock.now()));
      }
    }
  }

  async #endSilences(): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    if (await hasLongSilenced(storage.db, now)) await storage.writes.write((tx) => makeLongSilencedDue(tx, now));
  }

  #lookIn(ms: number): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    this.#timer = this.#deps.clock.setTimeout(() => {
      this.#pass = this.#runPass().then((next) => {
        this.#pass = undefined;
        this.#lookIn(this.#isHinted ? GATHER_MS : next);
      });
    }, ms);
  }

  /** Never rejects. @returns how long to wait for the next pass, milliseconds */
  async #runPass(): Promise<number> {
    const { storage, clock, log, digests } = this.#deps;
    this.#isHinted = false;
    const startedAt = clock.now();
    try {
      await this.run();
      // What was due before was told now, or belongs to a team that is left out.
      const next = earliest(await selectNextDue(storage.db, startedAt), await digests.nextAt(startedAt));
      const retries = [...this.#failing.values()].map((at) => at - clock.monotonic());
      return Math.max(0, Math.min((next ?? Infinity) - clock.now(), ...retries, LOOK_EVERY_MS));
    } catch (error) {
      log.warn({ err: error }, 'notifications could not be decided; trying again');
      return LOOK_EVERY_MS;
    }
  }
}

function teams(ids: readonly string[]): Unit[] {
  return ids.map((teamId) => ({ teamId }));
}

function nameOf({ teamId, userId = '' }: Unit): string {
  return `${teamId} ${userId}`;
}
