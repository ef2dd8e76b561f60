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

/** From test builds to releases, in the order in which the versions of one release appear. */
const STAGES: Readonly<Record<string, number>> = { _: 0, alpha: 1, beta: 2, rc: 3 };
const RELEASED = 9;

/** What {@link versionKey} gives for text that is no version: it comes before every version. */
export const NO_VERSION = '-';

/**
 * Text whose order, byte by byte, is the order of versions: 7.9 comes before 7.15beta2, which comes before 7.15rc1, 7.15 and 7.15.1.
 * {@link NO_VERSION} for what is no version.
 */
export function versionKey(version: string): string {
  const match = /^(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?(?:-?(alpha|beta|rc|_)[a-z]*(\d{1,5})?)?/.exec(plainVersion(version));
  if (!match) return NO_VERSION;
  const [, major, minor, patch, stage, build] = match;
  return [padded(major), padded(minor), padded(patch), stage === undefined ? RELEASED : STAGES[stage], padded(build)].join('.');
}

/** What the keys of a series begin with: `7` has all of version 7, `7.18` also 7.18.1 and 7.18beta2. Undefined for what names no series. */
export function seriesKey(series: string): string | undefined {
  const match = /^(\d{1,5})(?:\.(\d{1,5}))?(?:\.(\d{1,5}))?$/.exec(series);
  return match
    ?.slice(1)
    .filter((part) => part !== undefined)
    .map((part) => `${padded(part)}.`)
    .join('');
}

function padded(digits = '0'): string {
  return digits.padStart(5, '0');
}
