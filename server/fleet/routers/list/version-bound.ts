import { seriesKey, versionKey } from '../../../../routeros-text/versions.ts';
import type { VersionBound } from './types.ts';

/** `<7.15`, `>=7.10`, `=7.18`, `7.18` (with 7.18.1 and so on), `!6`. */
export const VERSION_BOUND = /^(!|=|[<>]=?)?(\d{1,5}(?:\.\d{1,5}){0,2}(?:(?:alpha|beta|rc)\d{1,5})?)$/;

/** Behind every character of a key. */
const LAST = '~';

/** Reads what matches {@link VERSION_BOUND}; undefined for what does not. */
export function readVersionBound(text: string): VersionBound | undefined {
  const [, sign, version] = VERSION_BOUND.exec(text) ?? [];
  if (version === undefined) return undefined;
  const series = seriesKey(version);
  if (sign === undefined || sign === '!') {
    // A beta or a candidate has no series: it is itself.
    const from = series ?? versionKey(version);
    return { relation: sign === '!' ? 'not in' : 'in', from, below: `${from}${LAST}` };
  }
  // `<7` is what comes before every version 7, and `>7` what comes after all of them.
  const isMajor = /^\d+$/.test(version);
  const key = isMajor ? `${series}${sign === '>' || sign === '<=' ? LAST : ''}` : versionKey(version);
  if (isMajor && sign === '=') return { relation: 'in', from: key, below: `${key}${LAST}` };
  return { relation: sign as VersionBound['relation'], from: key, below: '' };
}
