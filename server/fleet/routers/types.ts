import type { Selectable } from 'kysely';
import type { RoutersTable } from '../../platform/storage/schema-routers.ts';

export type { MoveChange } from './moves/types.ts';

export type RouterRecord = Selectable<RoutersTable>;
/** What lists show of a router that its inventory may change. */
export type ListedRouter = Pick<
  RouterRecord,
  'id' | 'team_id' | 'agent_id' | 'identity' | 'software_version' | 'model' | 'board_name' | 'serial_number'
>;

/** A router's state from its last heartbeats. */
export interface Presence {
  reachable: boolean;
  /** Seconds since boot at `lastSeenAt`. */
  uptimeSeconds: number | null;
  /** When the router itself last answered its agent. */
  lastSeenAt: number | null;
  /** Source address of the agent's tunnel. */
  lastSeenFrom: string | null;
}

/** One router of an agent's configuration. */
export interface AgentEntry {
  name: string;
  /** Address at which the agent reaches it; null while not reported. */
  host: string | null;
  /** Null while the router is unknown. */
  routerId: string | null;
  reachable: boolean;
  /** Why it does not answer or cannot be read, or `duplicate_serial`. */
  reason: string | null;
  /** The entry that has the router whose hardware id this one also reports. */
  duplicateOf: { name: string; host: string | null; routerId: string } | null;
}
