/** A text export as long as those of large routers: an address list, with so many lines changed, spread over it. */
export function exportOf({ megabytes, changes = 0 }: { megabytes: number; changes?: number }): string {
  const count = Math.floor((megabytes * 1_000_000) / 75);
  const every = changes === 0 ? Number.POSITIVE_INFINITY : Math.floor(count / changes);
  const lines = Array.from({ length: count }, (_, i) => {
    const comment = changes > 0 && i % every === 0 && i / every < changes ? 'changed by hand' : 'from the provider';
    return `add address=10.${(i >> 16) % 256}.${(i >> 8) % 256}.${i % 256} comment="${comment} ${i}" list=customers`;
  });
  return `# 2026-11-20 10:00:00 by RouterOS 7.18.2\n/ip firewall address-list\n${lines.join('\n')}\n`;
}
