/** A subject that groups follow: a name for kinds of events. */
export interface Topic {
  id: string;
  teamId: string;
  name: string;
  /** `fault.router_offline`, `job.failed`, or `fault.*` for every kind that begins so. */
  events: string[];
  createdAt: number;
  updatedAt: number;
}

export interface NewTopic {
  name: string;
  events: string[];
}

/** What is missing stays as it is. */
export interface TopicChange {
  name?: string | undefined;
  events?: string[] | undefined;
}
