const UNITS: [string, number][] = [
  ['w', 604_800],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** Seconds in RouterOS's own form: `1w3d15h41m57s`; parts that are zero are left out, `0s` for none. */
export function formatUptime(seconds: number): string {
  let rest = Math.floor(seconds);
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}

const STEPS: [string, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** A past moment in words: `12 seconds ago`, `3 days ago`, `never`. */
export function formatAgo(at: number | null, now: number): string {
  if (at === null) return 'never';
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  for (const [word, size] of STEPS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${word}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
