/** Times and sizes as people read them. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `45 s`, `12 min`, `3 h 20 min`, `5 d 4 h`: the two largest units. @param ms negative counts as 0 */
export function durationText(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < MINUTE) return `${Math.floor(rest / SECOND)} s`;
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)} min`;
  if (rest < DAY) return pair(rest, HOUR, 'h', MINUTE, 'min');
  return pair(rest, DAY, 'd', HOUR, 'h');
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

const SIZES = ['kB', 'MB', 'GB', 'TB'] as const;

/** `980 B`, `1.2 MB`: units of 1000. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 'B'];
  for (const next of SIZES) {
    if (value < 999.5) break;
    [value, unit] = [value / 1000, next];
  }
  return `${unit === 'B' || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
