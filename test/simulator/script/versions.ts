/** True when a RouterOS version (`7.13`, `6.49.10`) is at least another one. Betas count as their release. */
export function isAtLeast(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((text) => text.split(/[^0-9]+/).map(Number));
  for (let part = 0; part < 3; part += 1) {
    const difference = (have?.[part] ?? 0) - (want?.[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
