import type { Clock, Timer } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { takeOver } from './acknowledging/acknowledge.ts';
import type { Taker } from './acknowledging/acknowledge.ts';
import { lockTeam, selectThread, updateThread } from './acknowledging/store.ts';
import type { CampaignOf } from './match.ts';
import { insertMissedEnds } from './missed/store.ts';
import { routeSome } from './routing/route.ts';
import { selectListeners, selectTeamsToRoute } from './routing/store.ts';
import { muteOf } from './telling/moment.ts';
import { hasLongSilenced, makeLongSilencedDue, makeMutedDue, selectDueTeams, selectMutedGroups, selectNextDue } from './telling/store.ts';
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

export interface ThreadRules {
  /** Routers whose agent is back have so long to answer before they are told, milliseconds. */
  afterAgentMs: number;
}

export interface ThreadsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  rules: ThreadRules;
  campaignOf: CampaignOf;
  /** Stores messages in the transaction that decides them. */
  writeMessages: WriteMessages;
  /** Called after a pass that may have stored messages. */
  onMessages: () => void;
}

/**
 * Turns notices into threads, and threads into messages. All its state is in the database: hints and timers only make it faster, and any
 * process may do any step.
 */
export class ThreadsService {
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
    this.#deps.onMessages();
    return taken;
  }

  /** Does what is due now. @throws a storage error */
  async run(): Promise<void> {
    const { storage, clock } = this.#deps;
    await this.#endMissed();
    await this.#endMutes();
    await this.#endSilences();
    const { writeMessages, rules, campaignOf } = this.#deps;
    await this.#forEachTeam(selectTeamsToRoute, (teamId) =>
      storage.writes.write((tx) => routeSome(tx, teamId, { campaignOf, afterAgentMs: rules.afterAgentMs }, clock.now())),
    );
    await this.#forEachTeam(
      (db) => selectDueTeams(db, clock.now()),
      (teamId) => storage.writes.write((tx) => tellSome(tx, teamId, writeMessages, clock.now())),
    );
    this.#lookedAt = clock.monotonic();
    this.#deps.onMessages();
  }

  /** Teams take turns, one transaction each, until nothing is left. */
  async #forEachTeam(teamsOf: (db: Storage['db']) => Promise<string[]>, step: (teamId: string) => Promise<number>): Promise<void> {
    let teams = await teamsOf(this.#deps.storage.db);
    while (teams.length > 0 && !this.#stopped) {
      const left: string[] = [];
      for (const teamId of teams) if ((await step(teamId)) > 0) left.push(teamId);
      teams = left;
    }
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
    for (const group of await selectMutedGroups(storage.db)) {
      const listener = (await selectListeners(storage.db, group.teamId)).find(({ id }) => id === group.groupId);
      if (listener && muteOf(listener, clock.now()) === null) await storage.writes.write((tx) => makeMutedDue(tx, group, clock.now()));
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
    const { storage, clock, log } = this.#deps;
    this.#isHinted = false;
    try {
      await this.run();
      const next = await selectNextDue(storage.db);
      return Math.min(Math.max(0, (next ?? Infinity) - clock.now()), LOOK_EVERY_MS);
    } catch (error) {
      log.warn({ err: error }, 'notifications could not be decided; trying again');
      return LOOK_EVERY_MS;
    }
  }
}
