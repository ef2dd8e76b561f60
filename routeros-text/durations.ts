/** RouterOS durations, in seconds. Pure. */

/** Largest first. The pattern matches `ms` before `m`: otherwise 500ms would be 500 minutes and a stray s. */
const UNITS = [
  ['w', 604_800],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ...Object.fromEntries(UNITS), ms: 0.001 };

/** A new one for each use, because a sticky expression keeps its position. */
const PART = (): RegExp => /(\d+)(ms|w|d|h|m|s)/gy;
const COLONS = /^(\d+):(\d{2}):(\d{2}(?:\.\d+)?)$/;

/**
 * Seconds of a RouterOS duration in any of its spellings: `1w3d15h41m57s`, `1w3d15:41:57`, `00:00:00.500`, `29m4s`.
 * @returns undefined for any other text, including `never`
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

/** Whole seconds as routers print them: `1w3d15h41m57s`. Parts that are zero are omitted; zero is `0s`. */
export function formatDuration(seconds: number): string {
  let rest = Math.floor(seconds);
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}

/** Whole seconds as a `time` value of the console language: `3d04:05:06`. RouterOS 6 and 7 compare it the same way. */
export function formatTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const days = Math.floor(whole / 86_400);
  const parts = [Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60];
  return `${days > 0 ? `${days}d` : ''}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}
