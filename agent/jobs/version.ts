/** Whether a RouterOS version (`7.18.2`, `7.13beta2`) is this one or a later one. */
export function isAtLeast(version: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(/[.a-z ]/).map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
