import type { Counters } from '../core/counters.ts';

/** A key without its answer takes about so much, its place in two indexes included. */
export const BYTES_OF_KEY = 500;
/** Such answers are kept even when longer ones are not: receipts of jobs, and what stands in for a longer answer. */
export const SHORT_ANSWER = 1024;

/**
 * Bytes of one team that are kept: of long answers, and of everything together. Beyond the first limit only short answers are kept: a
 * repeat of a request with a longer answer learns that the first one succeeded. Beyond the second no new key is taken, before anything
 * is done. Nobody keeps more than is left for the rest of the team (the rule of `FairShares`), so a caller alone may have half: 96 MB.
 * 60 requests a minute for a day come to 86,400 keys, which is 43 MB with receipts of jobs to spare.
 */
export const KEPT_ANSWERS = { long: 64 * 1024 * 1024, all: 192 * 1024 * 1024 } as const;

/** Who has an answer kept: an API key or a person, of a team. */
export interface KeptFor {
  teamId: string;
  caller: string;
}

/** Bytes kept. */
interface Kept {
  all: number;
  long: number;
}

interface Team extends Kept {
  callers: Map<string, Kept>;
}

type Exceeded = 'kept_answers_per_team' | 'kept_answers_per_caller';

/** Counts what each caller of each team has kept: summed up once, at the start, and kept up, because summing takes long. */
export class KeptAnswers {
  readonly #counters: Counters | undefined;
  readonly #teams = new Map<string, Team>();

  constructor(counters: Counters | undefined) {
    this.#counters = counters;
  }

  /** A key was kept, or an answer of so many bytes. */
  count(who: KeptFor, bytes: number): void {
    this.add(who, { all: bytes, long: bytes > SHORT_ANSWER ? bytes : 0 });
  }

  /** Several keys and answers were kept, or forgotten (negative). */
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

  /** Counts a refusal when it says no. */
  hasRoomFor(who: KeptFor, length: number): boolean {
    if (length <= SHORT_ANSWER) return true;
    const exceeded = this.#exceeded(who, 'long', length);
    if (exceeded) this.#counters?.add(exceeded);
    return exceeded === undefined;
  }

  /** No new key of this caller may be taken. */
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
