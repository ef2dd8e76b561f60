import { cleanText } from '../../routeros-text/router-text.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Log messages. The cause and the duration are fields of the line. */
export interface AbsenceTexts {
  away: string;
  stillAway: string;
  back: string;
}

export interface AbsenceLogOptions {
  log: Log;
  clock: Clock;
  texts: AbsenceTexts;
  /** Fields of every line, such as the router's name. */
  fields?: object;
}

/** Time to the first repeated warning, in milliseconds; it doubles after each. */
const FIRST_REMINDER_MS = 5 * 60_000;
const LONGEST_REMINDER_MS = 24 * 60 * 60_000;

/** Limit of causes logged at `info`: a cause with a number in it would be new every time. */
const MOST_CAUSES = 4;
/** Characters of a cause. It may be the router's own text, and a megabyte every half minute would fill the disk. */
const LONGEST_CAUSE = 300;

/**
 * Logs the outage of a peer once, although connecting is retried every few seconds: `warn` when it begins, with the cause and no
 * stack; `info` for a new cause; `warn` again after increasing pauses while it lasts; `debug` for all other attempts; `info`
 * when it ends.
 */
export class AbsenceLog {
  readonly #options: AbsenceLogOptions;
  readonly #causes = new Set<string>();
  /** Start of the outage by the monotonic clock; undefined while there is none. */
  #since: number | undefined;
  #reminderAt = 0;
  #reminderAfter = FIRST_REMINDER_MS;

  constructor(options: AbsenceLogOptions) {
    this.#options = options;
  }

  /** The peer became unreachable, or another attempt failed. */
  away(cause: string): void {
    const { clock, log, texts } = this.#options;
    const reason = cleanText(cause, LONGEST_CAUSE);
    const now = clock.monotonic();
    if (this.#since === undefined) {
      this.#begin(now);
      log.warn(this.#fields({ reason }), texts.away);
    } else if (now >= this.#reminderAt) {
      this.#scheduleReminder(now);
      log.warn(this.#fields({ reason, away_seconds: this.#awaySeconds() }), texts.stillAway);
    } else if (!this.#causes.has(reason) && this.#causes.size < MOST_CAUSES) {
      log.info(this.#fields({ reason, away_seconds: this.#awaySeconds() }), texts.stillAway);
    } else {
      log.debug(this.#fields({ reason }), texts.stillAway);
    }
    if (this.#causes.size < MOST_CAUSES) this.#causes.add(reason);
  }

  /** The peer is reachable. */
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

  #scheduleReminder(now: number): void {
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
