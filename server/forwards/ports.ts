/** A port that was in use this recently is given out only when nothing else is left: old clients may still knock. */
export const PORT_QUARANTINE_MS = 10 * 60_000;

/** Rows of recently used ports: open ones (`closedAt` null) and those closed within the quarantine. */
export interface PortUse {
  port: number;
  closedAt: number | null;
}

/**
 * Chooses a port of the range: a random one that was not in use lately, else the one that has been closed longest,
 * else undefined. `unusable` are ports that another program holds.
 */
export function choosePort(
  range: { from: number; to: number },
  uses: readonly PortUse[],
  unusable: ReadonlySet<number>,
  random: () => number = Math.random,
): number | undefined {
  const closedAt = new Map<number, number>();
  for (const use of uses) closedAt.set(use.port, Math.max(closedAt.get(use.port) ?? 0, use.closedAt ?? Infinity));
  const size = range.to - range.from + 1;
  const start = Math.floor(random() * size);
  let oldest: { port: number; at: number } | undefined;
  for (let i = 0; i < size; i += 1) {
    const port = range.from + ((start + i) % size);
    if (unusable.has(port)) continue;
    const at = closedAt.get(port);
    if (at === undefined) return port;
    if (at !== Infinity && (!oldest || at < oldest.at)) oldest = { port, at };
  }
  return oldest?.port;
}
