import type { RouterReason } from '../../../../../protocol/index.ts';
import type { Locale } from '../types.ts';

/** Numbers of causes as a language writes them. */
export interface Readings {
  /** @param digits at most so many decimals */
  decimal: (value: number, digits?: number) => string;
  /** In its two largest units: "3 Tage 4 Stunden". */
  duration: (seconds: number) => string;
  /** A date in UTC: "30. November 2026". */
  day: (time: number) => string;
}

export function readingsIn(locale: Locale): Readings {
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return {
    decimal: (value, digits = 1) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value),
    duration: (seconds) => durationIn(locale, seconds),
    day: (time) => days.format(time),
  };
}

const UNITS = [
  ['year', 365 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

function durationIn(locale: Locale, seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const counts = UNITS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return { unit, count };
  });
  const first = counts.findIndex(({ count }) => count > 0);
  const shown = first === -1 ? counts.slice(-1) : counts.slice(first, first + 2).filter(({ count }) => count > 0);
  return shown
    .map(({ unit, count }) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count))
    .join(' ');
}

/** Where the code alone does not say enough, the words of the agent stand behind it. They are English, and quoted. */
const NEEDS_WORDS: ReadonlySet<string> = new Set(['tls', 'host_key', 'credentials', 'unknown'] satisfies RouterReason[]);

/** Why a router does not answer. @param reason a code; agents of other versions have none, or other ones */
export function noAnswer(words: Record<RouterReason, string>, reason: string, said: string, quote: (words: string) => string): string {
  const known = Object.hasOwn(words, reason) ? (reason as RouterReason) : 'unknown';
  return said !== '' && NEEDS_WORDS.has(known) ? `${words[known]}: ${quote(said)}` : words[known];
}
