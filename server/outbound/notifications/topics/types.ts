/** A named set of event types that groups follow. */
export interface Topic {
  id: string;
  teamId: string;
  name: string;
  /** `fault.router_offline`, `job.failed`, or `fault.*` for every type with that prefix. */
  events: string[];
  createdAt: number;
  updatedAt: number;
}

export interface NewTopic {
  name: string;
  events: string[];
}

/** Missing fields stay unchanged. */
export interface TopicChange {
  name?: string | undefined;
  events?: string[] | undefined;
}
