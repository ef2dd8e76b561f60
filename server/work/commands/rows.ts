/**
 * A router's row for API users: property names in snake_case (`mac-address` -> `mac_address`, `.id` -> `id`),
 * values as the router wrote them. Should two names meet, the later keeps the router's own spelling.
 */
export function toPublicRow(row: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(row)) {
    const publicName = name.replace(/^\./, '').replaceAll(/[-.\s]/g, '_').toLowerCase();
    result[Object.hasOwn(result, publicName) ? name : publicName] = value;
  }
  return result;
}
