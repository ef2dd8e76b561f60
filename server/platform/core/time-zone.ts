/**
 * The IANA time zone with this name, in its proper spelling; undefined when there is none. An alias that is still
 * valid stays unchanged, because the engine's canonical name may be the older one (Asia/Calcutta).
 */
export function ianaTimeZone(name: string): string | undefined {
  // The engine accepts offsets like +01:00, but they are not zones: they have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
}
