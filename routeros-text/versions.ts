/** RouterOS versions as routers print them: `6.49.10`, `7.18.2 (stable)`, `7.20beta3`, `7.24_ab55`. Pure. */

/** A release by its two numbers: `7.13`. */
export type Release = `${number}.${number}`;

/** `7.18.2 (stable)` is version 7.18.2. */
export function plainVersion(version: string): string {
  return version.trim().split(/\s/, 1)[0] ?? '';
}

/** Whether the version is that release or a later one. Betas, candidates and test builds count as their release. False for other text. */
export function isAtLeast(version: string, release: Release): boolean {
  const [have, want] = [numbersOf(version), numbersOf(release)];
  if (!have || !want) return false;
  return have.major > want.major || (have.major === want.major && have.minor >= want.minor);
}

function numbersOf(version: string): { major: number; minor: number } | undefined {
  const match = /^(\d+)\.(\d+)/.exec(version);
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}
