import type { Counters } from '../core/counters.ts';

/** Approximate size of a key without its response, including two indexes. */
export const BYTES_OF_KEY = 500;
/** Responses up to this length are stored even when longer ones are not: job receipts, and placeholders for longer responses. */
export const SHORT_ANSWER = 1024;

/**
 * Bytes stored per team: long responses, and everything together. Beyond the first limit only short responses are stored: a repeat
 * of a request with a longer response learns that the first one succeeded. Beyond the second limit requests with a new key are
 * rejected before they start. No caller may use more than the team has left (the rule of `FairShares`), so a single caller may use
 * half: 96 MB. 60 requests a minute for a day make 86,400 keys, or 43 MB with job receipts.
 */
export const KEPT_ANSWERS = { long: 64 * 1024 * 1024, all: 192 * 1024 * 1024 } as const;

/** The owner of a stored response: an API key or a user of a team. */
export interface KeptFor {
  teamId: string;
  caller: string;
}

/** Stored bytes. */
interface Kept {
  all: number;
  long: number;
}

interface Team extends Kept {
  callers: Map<string, Kept>;
}

/** What is stored for one caller. */
export interface CallerSum extends KeptFor, Kept {}

type Exceeded = 'kept_answers_per_team' | 'kept_answers_per_caller';

/** Counts the stored bytes of each caller of each team: summed at start, because that takes long, and then updated. */
export class KeptAnswers {
  readonly #counters: Counters | undefined;
  readonly #teams = new Map<string, Team>();

  constructor(counters: Counters | undefined) {
    this.#counters = counters;
  }

  /** Adds a stored key, or a response of this many bytes. */
  count(who: KeptFor, bytes: number): void {
    this.add(who, { all: bytes, long: bytes > SHORT_ANSWER ? bytes : 0 });
  }

  /** Forgets what was counted before: this is all that is stored. */
  replace(sums: readonly CallerSum[]): void {
    this.#teams.clear();
    for (const { teamId, caller, all, long } of sums) this.add({ teamId, caller }, { all, long });
  }

  /** Adds several stored keys and responses, or deleted ones (negative). */
  add({ teamId, caller }: KeptFor, kept: Kept): void {
    const team = this.#teams.get(teamId) ?? { all: 0, long: 0, callers: new Map<string, Kept>() };
    const own = team.callers.get(caller) ?? { all: 0, long: 0 };
    for (const sum of [team, own]) {
      sum.all += kept.all;
      sum.long += kept.long;
    }
    if (own.all > 0) team.callers.set(caller, own);
    else team.callers.delete(caller);
    if (team.all > 0) this.#teams.set(teamId, team);
    else this.#teams.delete(teamId);
  }

  /** When false, counts a refusal. */
  hasRoomFor(who: KeptFor, length: number): boolean {
    if (length <= SHORT_ANSWER) return true;
    const exceeded = this.#exceeded(who, 'long', length);
    if (exceeded) this.#counters?.add(exceeded);
    return exceeded === undefined;
  }

  /** True when no new key of this caller may be stored. */
  isFull(who: KeptFor): boolean {
    return this.#exceeded(who, 'all', 0) !== undefined;
  }

  /** A new key of this caller was refused. */
  refused(who: KeptFor): void {
    this.#counters?.add(this.#exceeded(who, 'all', 0) ?? 'kept_answers_per_caller');
  }

  #exceeded({ teamId, caller }: KeptFor, what: 'long' | 'all', length: number): Exceeded | undefined {
    const team = this.#teams.get(teamId);
    const left = KEPT_ANSWERS[what] - (team?.[what] ?? 0);
    if (length > left) return 'kept_answers_per_team';
    return (team?.callers.get(caller)?.[what] ?? 0) + length > left ? 'kept_answers_per_caller' : undefined;
  }
}
