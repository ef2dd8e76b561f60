import { mayHaveOneMore } from '../../../../runtime/fair-shares.ts';

/**
 * A recently used port is not given out again for this time. Otherwise a program that reconnects, or a browser tab that
 * reloads, could reach the target of another forward. As long as the shortest life of a forward.
 */
export const PORT_QUARANTINE_MS = 10 * 60_000;

/** Rows of recently used ports: open ones (`closedAt` null) and those closed within the quarantine. */
export interface PortUse {
  port: number;
  teamId: string;
  closedAt: number | null;
}

/** Ports that a team can have open or in quarantine: twice its limit of open forwards (limits.ts). */
export const PORTS_PER_TEAM = 2000;

export type PortChoice =
  | { state: 'free'; port: number }
  /** The team holds its share, open and in quarantine. @property until when the first of its own quarantines ends */
  | { state: 'share_used_up'; held: number; until: number | undefined }
  /** All are open or in quarantine. @property until when the first quarantine ends; undefined while none is in it */
  | { state: 'exhausted'; until: number | undefined };

export interface PortRequest {
  range: { from: number; to: number };
  uses: readonly PortUse[];
  /** Ports that other programs hold. */
  unusable: ReadonlySet<number>;
  teamId: string;
  /** No other team needs ports. */
  isOnlyTeam: boolean;
}

/**
 * Chooses a random port of the range that was not used recently. If there are other teams, a team holds no more ports than
 * it leaves free; a port in quarantine counts for the team that used it.
 */
export function choosePort(request: PortRequest, random: () => number = Math.random): PortChoice {
  return shareUsedUp(request) ?? chooseFree(request, random);
}

function shareUsedUp({ range, uses, unusable, teamId, isOnlyTeam }: PortRequest): PortChoice | undefined {
  if (isOnlyTeam) return undefined;
  const taken = new Set([...uses.map((use) => use.port), ...unusable].filter((port) => port >= range.from && port <= range.to));
  const own = uses.filter((use) => use.teamId === teamId);
  const left = range.to - range.from + 1 - taken.size;
  // With none left, the whole range is exhausted, not the share.
  if (left <= 0 || mayHaveOneMore({ held: own.length, left, most: PORTS_PER_TEAM })) return undefined;
  const closedAt = own.flatMap((use) => use.closedAt ?? []);
  const until = closedAt.length === 0 ? undefined : Math.min(...closedAt) + PORT_QUARANTINE_MS;
  return { state: 'share_used_up', held: own.length, until };
}

function chooseFree({ range, uses, unusable }: PortRequest, random: () => number): PortChoice {
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
