import type { Selectable } from 'kysely';
import type { RouterPresenceTable, RoutersTable } from '../storage/schema-routers.ts';

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
  /** Null while it is not known which router answers there. */
  routerId: string | null;
  reachable: boolean;
  /** Why it does not answer, or why it cannot be read. */
  reason: string | null;
}
