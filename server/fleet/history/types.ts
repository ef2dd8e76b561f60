/** `unknown`: time in which nobody knew anything, because no control plane ran. */
export const HISTORY_KINDS = ['state', 'session', 'fault', 'job', 'forward', 'terminal', 'backup', 'action', 'unknown'] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

/** Kinds of an agent's own history. */
export const AGENT_HISTORY_KINDS = ['session', 'unknown'] as const satisfies readonly HistoryKind[];
export type AgentHistoryKind = (typeof AGENT_HISTORY_KINDS)[number];

/** One thing that happened to a router or was done with it. */
export interface HistoryItem {
  id: string;
  kind: HistoryKind;
  /** Milliseconds since 1970. */
  at: number;
  /** Null: it continues, it has no duration, or its end is unknown. */
  until: number | null;
  /** A word of its kind: the state, how the session ended, the status of the job. */
  status: string;
  /** What it is, for people. */
  title: string;
  /** Id of the key, person or agent that did it; null when it is unknown. */
  byId: string | null;
  /** Where the API has it; null where there is no such place. */
  link: string | null;
}

/** Whose history, and which part of it. */
export interface HistoryFilter {
  kinds: readonly HistoryKind[];
  /** It began at that moment or later, milliseconds. */
  from: number | undefined;
  /** It began before that moment, milliseconds. */
  to: number | undefined;
}
