import { cleanText } from '../../routeros-text/router-text.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** What the log says; the cause and how long it lasts already are fields of the line. */
export interface AbsenceTexts {
  away: string;
  stillAway: string;
  back: string;
}

export interface AbsenceLogOptions {
  log: Log;
  clock: Clock;
  texts: AbsenceTexts;
  /** In every line: whose absence it is. */
  fields?: object;
}

/** When the log is first reminded of what stays away, milliseconds; each reminder doubles the wait for the next. */
const FIRST_REMINDER_MS = 5 * 60_000;
const LONGEST_REMINDER_MS = 24 * 60 * 60_000;

/** A cause with a number in it would be another one every time. */
const MOST_CAUSES = 4;
/** A cause may be the router's own words: a farewell of a megabyte every half minute would fill the disk. */
const LONGEST_CAUSE = 300;

/**
 * Tells people that something went away and that it is back, once each, although it is tried every few seconds meanwhile: a
 * warning when it goes, with the cause and no stack; another cause as information; a warning now and then while it stays away,
 * all other tries for debugging; information when it is back.
 */
export class AbsenceLog {
  readonly #options: AbsenceLogOptions;
  readonly #causes = new Set<string>();
  /** By the monotonic clock; undefined while it is there, or nobody has looked yet. */
  #since: number | undefined;
  #reminderAt = 0;
  #reminderAfter = FIRST_REMINDER_MS;

  constructor(options: AbsenceLogOptions) {
    this.#options = options;
  }

  /** It went away, or another try to find it failed. */
  away(cause: string): void {
    const { clock, log, texts } = this.#options;
    const reason = cleanText(cause, LONGEST_CAUSE);
    const now = clock.monotonic();
    if (this.#since === undefined) {
      this.#begin(now);
      log.warn(this.#fields({ reason }), texts.away);
    } else if (now >= this.#reminderAt) {
      this.#remindLater(now);
      log.warn(this.#fields({ reason, away_seconds: this.#awaySeconds() }), texts.stillAway);
    } else if (!this.#causes.has(reason) && this.#causes.size < MOST_CAUSES) {
      log.info(this.#fields({ reason, away_seconds: this.#awaySeconds() }), texts.stillAway);
    } else {
      log.debug(this.#fields({ reason }), texts.stillAway);
    }
    if (this.#causes.size < MOST_CAUSES) this.#causes.add(reason);
  }

  /** It is there. */
  back(fields: object = {}): void {
    const { log, texts } = this.#options;
    const away = this.#since === undefined ? {} : { away_seconds: this.#awaySeconds() };
    this.#since = undefined;
    log.info(this.#fields({ ...fields, ...away }), texts.back);
  }

  #begin(now: number): void {
    this.#since = now;
    this.#causes.clear();
    this.#reminderAfter = FIRST_REMINDER_MS;
    this.#reminderAt = now + FIRST_REMINDER_MS;
  }

  #remindLater(now: number): void {
    this.#reminderAfter = Math.min(this.#reminderAfter * 2, LONGEST_REMINDER_MS);
    this.#reminderAt = now + this.#reminderAfter;
  }

  #awaySeconds(): number {
    const { clock } = this.#options;
    return Math.round((clock.monotonic() - (this.#since ?? clock.monotonic())) / 1000);
  }

  #fields(more: object): object {
    return { ...this.#options.fields, ...more };
  }
}
