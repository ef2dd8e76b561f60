import { LRUCache } from 'lru-cache';

/** A date of a calendar: days since 1970-01-01, which was a Thursday. */
export type LocalDate = number;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No zone is further than 14 hours from UTC, and none jumps by more than a day. */
const WIDEST_MS = 48 * HOUR_MS;

/** Making a format takes 50 µs, a hundred times its use. There are about 600 zones; a fleet and its people have a few. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/** Where days begin in one time zone. A day in which the clocks change has 23 or 25 hours; one that a zone left out has none. */
export class LocalDays {
  readonly #format: Intl.DateTimeFormat;

  /** @param timeZone IANA name */
  constructor(timeZone: string) {
    this.#format = formatOf(timeZone);
  }

  /** How far the zone's clocks are ahead of UTC at that moment, milliseconds. */
  offsetAt(at: number): number {
    const second = Math.floor(at / 1000) * 1000;
    const parts = new Map(this.#format.formatToParts(second).map(({ type, value }) => [type, value]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
    const shown = new Date(0);
    shown.setUTCFullYear(year, part('month') - 1, part('day'));
    shown.setUTCHours(part('hour'), part('minute'), part('second'));
    return shown.getTime() - second;
  }

  /** The date that a calendar on the wall shows at that moment. */
  dateAt(at: number): LocalDate {
    return Math.floor((at + this.offsetAt(at)) / DAY_MS);
  }

  /** The start of a day. If midnight is skipped, the time of the jump. */
  startOf(date: LocalDate): number {
    const midnight = date * DAY_MS;
    const [before, after] = [this.offsetAt(midnight - WIDEST_MS / 2), this.offsetAt(midnight + WIDEST_MS / 2)];
    if (before === after) return midnight - before;
    // The clocks change somewhere near: look for the first moment with this date.
    let [earlier, later] = [midnight - WIDEST_MS, midnight + WIDEST_MS];
    while (later - earlier > 1) {
      const middle = Math.floor((earlier + later) / 2);
      if (this.dateAt(middle) >= date) later = middle;
      else earlier = middle;
    }
    return later;
  }
}

/** The Monday of a date's week. */
export function mondayOf(date: LocalDate): LocalDate {
  return date - ((((date + 3) % 7) + 7) % 7);
}
