/**
 * The IANA time zone with this name, in its proper spelling; undefined when there is none. An old name that is still
 * valid stays as it was given, because the engine's name for the same zone may be the older one (Asia/Calcutta).
 */
export function ianaTimeZone(name: string): string | undefined {
  // Offsets like +01:00 are understood by the engine, but are no zones: they know no summer.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
}
