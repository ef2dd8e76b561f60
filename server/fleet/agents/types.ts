/** An agent as its team sees it, without its epoch and journal. */
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
  /** When it was removed from the team's lists. */
  removedAt: number | null;
}

/** An agent's journal state as it reports it when it connects. */
export interface ReportedJournal {
  journalId: string;
  /** The newest epoch this journal has seen, 0 for none. */
  lastEpoch: number;
}

/** The journal state that the control plane has recorded, with the epoch just assigned. */
export interface KnownEpoch {
  epoch: number;
  /** The newest epoch that the agent has confirmed to have stored, 0 for none. */
  confirmedEpoch: number;
  /** The journal that confirmed it. */
  journalId: string | null;
}

export interface AssignedEpoch {
  epoch: number;
  /** The agent's journal cannot be trusted. */
  reset: boolean;
}
