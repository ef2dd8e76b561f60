import type { Locale } from './types.ts';

/** Times as a reader of one language sees them: in the zone of the site, and in the reader's own when it differs. Pure. */

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
  const hasDate = dayOf(time, zone) !== dayOf(now, zone);
  const clock = clockOf(time, zone);
  const isElsewhere = siteTimeZone !== null && localOf(time, siteTimeZone) !== localOf(time, readerTimeZone);
  return {
    text: hasDate ? `${dateOf(time, zone, locale)}, ${clock}` : clock,
    hasDate,
    hour: Number(clock.slice(0, 2)),
    elsewhere: isElsewhere ? elsewhereOf(time, zone, readerTimeZone, locale) : null,
  };
}

/** The two largest units: "13 min", "4 hr, 5 min". */
export function durationOf(ms: number, locale: Locale): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const parts = (
    [
      ['day', Math.floor(minutes / 1440)],
      ['hour', Math.floor((minutes % 1440) / 60)],
      ['minute', minutes % 60],
    ] as const
  ).filter(([, value]) => value > 0);
  const texts = parts.slice(0, 2).map(([unit, value]) => {
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  });
  return texts.join(' ');
}

/** Engineers compare with log lines, so the day has 24 hours in every language. */
function clockOf(time: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(time);
}

function dateOf(time: number, timeZone: string, locale: Locale): string {
  return new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { timeZone, day: 'numeric', month: 'short' }).format(time);
}

function dayOf(time: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(time);
}

function localOf(time: number, timeZone: string): string {
  return `${dayOf(time, timeZone)} ${clockOf(time, timeZone)}`;
}

/** "20:31 Auckland": the city of the zone is right for every reader and needs no translation. */
function elsewhereOf(time: number, siteZone: string, readerZone: string, locale: Locale): string {
  const city = readerZone.split('/').at(-1)!.replaceAll('_', ' ');
  const date = dayOf(time, siteZone) === dayOf(time, readerZone) ? '' : `${dateOf(time, readerZone, locale)}, `;
  return `${date}${clockOf(time, readerZone)} ${city}`;
}
