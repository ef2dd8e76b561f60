/**
 * A port that was in use this recently is given to nobody: whoever still has its number, a program that dials again or a
 * tab that reloads itself, would reach another's target. As long as the shortest life of a forward.
 */
export const PORT_QUARANTINE_MS = 10 * 60_000;

/** Rows of recently used ports: open ones (`closedAt` null) and those closed within the quarantine. */
export interface PortUse {
  port: number;
  closedAt: number | null;
}

export type PortChoice =
  | { state: 'free'; port: number }
  /** All are open or in quarantine. @property until when the first quarantine ends; undefined while none is in it */
  | { state: 'exhausted'; until: number | undefined };

/**
 * Chooses a port of the range: a random one that was not in use lately.
 * @param unusable ports that another program holds
 */
export function choosePort(
  range: { from: number; to: number },
  uses: readonly PortUse[],
  unusable: ReadonlySet<number>,
  random: () => number = Math.random,
): PortChoice {
  const closedAt = new Map<number, number>();
  for (const use of uses) closedAt.set(use.port, Math.max(closedAt.get(use.port) ?? 0, use.closedAt ?? Infinity));
  const size = range.to - range.from + 1;
  const start = Math.floor(random() * size);
  let oldest = Infinity;
  for (let i = 0; i < size; i += 1) {
    const port = range.from + ((start + i) % size);
    if (unusable.has(port)) continue;
    const at = closedAt.get(port);
    if (at === undefined) return { state: 'free', port };
    oldest = Math.min(oldest, at);
  }
  return { state: 'exhausted', until: oldest === Infinity ? undefined : oldest + PORT_QUARANTINE_MS };
}
