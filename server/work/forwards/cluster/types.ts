import type { Cluster } from '../../../feature.ts';
import type { Listeners } from '../../../platform/core/listeners.ts';
import type { LiveForward } from '../live-forward.ts';
import type { LiveForwards } from '../live-forwards.ts';
import type { ForwardKey, updateTerms } from '../store.ts';
import type { Carried, ForwardChange, ForwardMaker, ForwardRecord, ForwardRequest, ForwardTerms } from '../types.ts';
import type { Doors } from './doors.ts';

export interface ForwardCluster extends Pick<Cluster, 'nodeId' | 'bus' | 'looks' | 'members' | 'isCounted' | 'gone'> {
  /** How agents reach this control plane. */
  channelUrl: string;
  /** The control plane that has the agent's tunnel, as the database knows. */
  holder: (agentId: string) => Promise<string | undefined>;
}

/** Forwards that this process is the home of, as this needs them. */
export interface OwnForwards {
  readonly live: LiveForwards;
  /** A forward that is being created is stored before it is live. */
  isCreating(): boolean;
  create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<{ id: string }>;
  /** Opens a forward that is stored as one of this home, or ends it when its time is over. */
  takeUp(record: ForwardRecord): Promise<void>;
  /** Becomes the home of a forward without one, and opens its port here. @returns false when another was faster */
  adopt(record: ForwardRecord): Promise<boolean>;
  /** Asks the agent to open the forward again, in the background. */
  reopen(live: LiveForward): void;
  /** Asks the agent to go by the new end, and waits a moment for it. */
  renew(live: LiveForward, record: ForwardRecord): Promise<void>;
  /** In the background. */
  closeAtAgent(forward: { id: string; agentId: string }): void;
  dropAgent(teamId: string, agentId: string, why: string): Promise<void>;
  onLost(agentId: string, id: string, reason: string): void;
  /** Ends what dead control planes left open in the log of connections. */
  settleConnections(): Promise<void>;
  /** What this process carries of a forward, as its home or as a door to it. */
  carriedOf(id: string): Carried;
  /** Counts a refused client. */
  refused(key: ForwardKey, source: string): void;
  agentOf(record: ForwardRecord): Promise<string>;
  /** Work that the service's stop waits for. Never rejects. */
  track(work: Promise<void>, whatFailed: string): Promise<void>;
  /** The columns that a caller's change sets. @throws AppError `invalid` naming the field */
  columnsOf(terms: ForwardTerms, now: number): Parameters<typeof updateTerms>[3];
  /** For clients of a forward whose home is another control plane. `closed` is called whenever one of its connections is over. */
  makeDoor(record: ForwardRecord, at: { doors: Doors; channelUrl: string }, closed: () => void): LiveForward;
  /** Every change of a forward's record that this process makes. */
  readonly changes: Pick<Listeners<ForwardChange>, 'publish'>;
}
