/** An agent as its team sees it. Its session (epoch, journal) belongs to the tunnel's store. */
export interface Agent {
  id: string;
  teamId: string;
  siteId: string | null;
  name: string;
  version: string | null;
  createdAt: number;
  revokedAt: number | null;
  connectedAt: number | null;
  disconnectedAt: number | null;
  /** Since when it is in no list of the team's agents. */
  removedAt: number | null;
}

/** What an agent says of its memory when it connects. */
export interface AgentMemory {
  journalId: string;
  /** The newest epoch this journal has seen, 0 for none. */
  lastEpoch: number;
}

/** What the control plane knows of it, as of the epoch just given. */
export interface KnownSession {
  epoch: number;
  /** The newest epoch the agent has confirmed to have on disk, 0 for none. */
  confirmedEpoch: number;
  /** The journal that confirmed it. */
  journalId: string | null;
}

export interface SessionStart {
  epoch: number;
  /** The agent's memory cannot be trusted. */
  reset: boolean;
}
