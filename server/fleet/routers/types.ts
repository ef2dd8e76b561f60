import type { Selectable } from 'kysely';
import type { RouterPresenceTable, RoutersTable } from '../../platform/storage/schema-routers.ts';

export type { MoveChange } from './moves/types.ts';

export type RouterRecord = Selectable<RoutersTable>;
export type PresenceRecord = Selectable<RouterPresenceTable>;

/** What the last heartbeats said about a router. */
export interface Presence {
  reachable: boolean;
  /** Seconds since boot at `lastSeenAt`. */
  uptimeSeconds: number | null;
  /** The last moment the router itself answered its agent. */
  lastSeenAt: number | null;
  /** Address the agent's tunnel came from. */
  lastSeenFrom: string | null;
}

export interface RouterWithPresence {
  router: RouterRecord;
  presence: Presence;
}

/** One router of an agent's configuration. */
export interface AgentEntry {
  name: string;
  /** Where the agent reaches it; null while it has not said. */
  host: string | null;
  /** Null while it is not known which router answers there. */
  routerId: string | null;
  reachable: boolean;
  /** Why it does not answer, why it cannot be read, or `duplicate_serial`. */
  reason: string | null;
  /** The entry that has the router whose hardware id this one reports, too. */
  duplicateOf: { name: string; host: string | null; routerId: string } | null;
}
