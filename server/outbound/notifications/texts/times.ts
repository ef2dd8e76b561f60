import { LRUCache } from 'lru-cache';
import type { Locale } from './types.ts';

/** Times as a reader of one language sees them: in the zone of the site, and in the reader's own when it differs. */

export interface Moment {
  /** "08:31", on another day "22 Nov, 08:31". */
  text: string;
  /** Whether the text begins with a date. */
  hasDate: boolean;
  hour: number;
  /** The reader's own time, "07:31 London"; null where it is the same. */
  elsewhere: string | null;
}

export interface Zones {
  locale: Locale;
  /** Null: only the reader's. */
  siteTimeZone: string | null;
  readerTimeZone: string;
  /** The moment at which the text is written. */
  now: number;
}

/** A time, with the date if it is not of today. @param time milliseconds since 1970 */
export function momentOf(time: number, { locale, siteTimeZone, readerTimeZone, now }: Zones): Moment {
  const zone = siteTimeZone ?? readerTimeZone;
  const here = localOf(time, zone);
  const there = siteTimeZone === null ? here : localOf(time, readerTimeZone);
  const hasDate = here.day !== localOf(now, zone).day;
  const isElsewhere = here.day !== there.day || here.clock !== there.clock;
  return {
    text: hasDate ? `${dateOf(time, zone, locale)}, ${here.clock}` : here.clock,
    hasDate,
    hour: Number(here.clock.slice(0, 2)),
    elsewhere: isElsewhere ? elsewhereOf(time, here.day, readerTimeZone, locale) : null,
  };
}

/** The two largest units: "13 min", "4 hr 5 min". @param unitDisplay `long` in a sentence with room: "1 day" */
export function durationOf(ms: number, locale: Locale, unitDisplay: 'short' | 'long' = 'short'): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const parts = [
    ['day', Math.floor(minutes / 1440)],
    ['hour', Math.floor((minutes % 1440) / 60)],
    ['minute', minutes % 60],
  ] as const;
  return parts
    .filter(([, value]) => value > 0)
    .slice(0, 2)
    .map(([unit, value]) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(value))
    .join(' ');
}

/** "20:31 Auckland": the city of the zone is right for every reader and needs no translation. */
function elsewhereOf(time: number, siteDay: string, readerZone: string, locale: Locale): string {
  const city = readerZone.split('/').at(-1)!.replaceAll('_', ' ');
  const { day, clock } = localOf(time, readerZone);
  const date = day === siteDay ? '' : `${dateOf(time, readerZone, locale)}, `;
  return `${date}${clock} ${city}`;
}

/** Engineers compare with log lines, so the day has 24 hours in every language. */
function localOf(time: number, timeZone: string): { day: string; clock: string } {
  // "2026-11-23, 08:31" in this locale.
  const [day = '', clock = ''] = formatOf('en-CA', timeZone, LOCAL).format(time).split(', ');
  return { day, clock };
}

function dateOf(time: number, timeZone: string, locale: Locale): string {
  return formatOf(locale === 'en' ? 'en-GB' : locale, timeZone, DATE).format(time);
}

const LOCAL: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};
const DATE: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

/** Making a formatter costs a hundred times its use. There are about 600 zones; a fleet has a few. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });

function formatOf(language: string, timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${timeZone} ${options === DATE ? 'date' : 'local'}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat(language, { ...options, timeZone });
  formats.set(key, made);
  return made;
}
