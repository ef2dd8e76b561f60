/** `5,000`: as everywhere in the application, whose language is English. */
export function numberWords(count: number): string {
  return count.toLocaleString('en');
}

/** `412 B`, `3.1 kB`, `14 MB`: powers of ten, as RouterOS and disks count. */
export function sizeOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
