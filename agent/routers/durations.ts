const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

/** A new one for each use, because a sticky expression remembers its place. `ms` before `m`: otherwise 500ms would be five hundred minutes and a stray s. */
const PART = (): RegExp => /(\d+)(ms|w|d|h|m|s)/gy;
const COLONS = /^(\d+):(\d{2}):(\d{2}(?:\.\d+)?)$/;

/**
 * Seconds of a RouterOS duration in any of its spellings: `1w3d15h41m57s`, `1w3d15:41:57`, `00:00:00.500`, `29m4s`.
 * @returns undefined for anything else, `never` among it
 */
export function parseDuration(text: string): number | undefined {
  let seconds = 0;
  let at = 0;
  const parts = PART();
  for (let part = parts.exec(text); part; part = parts.exec(text)) {
    seconds += Number(part[1]) * UNIT_SECONDS[part[2]!]!;
    at = parts.lastIndex;
  }
  if (at === text.length) return text === '' ? undefined : seconds;
  const colons = COLONS.exec(text.slice(at));
  if (!colons) return undefined;
  return seconds + Number(colons[1]) * 3600 + Number(colons[2]) * 60 + Number(colons[3]);
}
