/** Six pairs of hex digits with one kind of separator, three groups of four digits, or twelve digits. */
const SPELLINGS = [
  /^([0-9a-f]{2})([:\-. ])([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})\2([0-9a-f]{2})$/i,
  /^[0-9a-f]{4}([.:-])[0-9a-f]{4}\1[0-9a-f]{4}$/i,
  /^[0-9a-f]{6}[:-]?[0-9a-f]{6}$/i,
];

/** Any common spelling of a MAC address as `AA:BB:CC:DD:EE:FF`; undefined for anything else. */
export function normaliseMac(text: string): string | undefined {
  const trimmed = text.trim().replace(/^0x(?=[0-9a-f]{12}$)/i, '');
  if (!SPELLINGS.some((spelling) => spelling.test(trimmed))) return undefined;
  return formatMac(trimmed.replace(/[^0-9a-f]/gi, ''));
}

function formatMac(digits: string): string {
  return digits.toUpperCase().replace(/(..)(?=.)/g, '$1:');
}

/** The beginning of a MAC address in any spelling, for search: `4c5e-0c` is `4C:5E:0C`. At least two whole bytes. */
export function macFragment(text: string): string | undefined {
  // With dots it would otherwise be an IP address.
  if (text.includes('.') && !/^[0-9a-f]{4}(?:\.[0-9a-f]{1,4}){1,2}$/i.test(text)) return undefined;
  const digits = text.replace(/[:\-. ]/g, '');
  return /^[0-9a-f]{4,12}$/i.test(digits) ? formatMac(digits) : undefined;
}

/** Assigned by software, not by a manufacturer: random addresses of phones, virtual machines, bridges. */
export function isLocallyAdministered(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 0b10) !== 0;
}
