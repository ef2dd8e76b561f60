import type { Counters } from '../core/counters.ts';

/** A key without its answer takes about so much, its place in two indexes included. */
export const BYTES_OF_KEY = 500;
/** Such answers are kept even when longer ones are not: receipts of jobs, and what stands in for a longer answer. */
export const SHORT_ANSWER = 1024;

/**
 * Answers of one team that are kept, bytes. Beyond the first bound only short ones are: a repeat of a request with a longer answer
 * is told that the first one succeeded. Beyond the second no new key is taken, before anything is done. 60 requests a minute for a
 * day come to 86,400 keys, which is 43 MB with receipts of jobs to spare.
 */
export const KEPT_ANSWERS = { long: 64 * 1024 * 1024, all: 192 * 1024 * 1024 } as const;

/** Counts what each team has kept: summed up once, at the start, and kept up, because summing takes long. */
export class KeptAnswers {
  readonly #counters: Counters | undefined;
  readonly #byTeam = new Map<string, number>();

  constructor(counters: Counters | undefined) {
    this.#counters = counters;
  }

  /** Bytes were kept, or forgotten (negative). */
  count(teamId: string, bytes: number): void {
    const kept = (this.#byTeam.get(teamId) ?? 0) + bytes;
    if (kept > 0) this.#byTeam.set(teamId, kept);
    else this.#byTeam.delete(teamId);
  }

  /** Counts a refusal when it says no. */
  hasRoomFor(teamId: string, length: number): boolean {
    if (length <= SHORT_ANSWER || (this.#byTeam.get(teamId) ?? 0) + length <= KEPT_ANSWERS.long) return true;
    this.#counters?.add('kept_answers_per_team');
    return false;
  }

  /** No new key may be taken. */
  isFull(teamId: string): boolean {
    return (this.#byTeam.get(teamId) ?? 0) > KEPT_ANSWERS.all;
  }

  /** A new key was refused. */
  refused(): void {
    this.#counters?.add('kept_answers_per_team');
  }
}
