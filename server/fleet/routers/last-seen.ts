const STEPS: [string, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** Formats a past time: `12 seconds ago`, `3 days ago`, `never`. */
export function formatAgo(at: number | null, now: number): string {
  if (at === null) return 'never';
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  for (const [word, size] of STEPS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${word}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
