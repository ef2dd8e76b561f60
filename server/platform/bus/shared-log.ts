/** A message in the shared log. */
export interface LogEntry {
  /** Its place in the order of all topics. Numbers grow; of one topic they have gaps. */
  number: number;
  topic: string;
  text: string;
}

/** A place in the log. The origin changes when the log had to begin anew: numbers of another origin mean nothing. */
export interface LogPosition {
  origin: string;
  number: number;
}

/** Hears the log in its order. Its functions must not throw. */
export interface LogFollower {
  /**
   * The log was read for the first time, has begun anew, or messages were dropped before they came here. Up to `from.number` anything may be
   * missing; what the log has after it comes as `entries`, and then one by one.
   */
  onReset(from: LogPosition, entries: readonly LogEntry[]): void;
  onEntry(entry: LogEntry): void;
}

/**
 * Messages of all control planes in one order. The bus keeps the newest of each topic for a while, so that a control plane that was away reads
 * what it has missed. It is no store: it begins anew when the servers of the bus were all restarted.
 */
export interface SharedLog {
  /** Up to where this control plane has read; undefined before it has read the log for the first time. */
  readonly position: LogPosition | undefined;
  /** Messages that wait until the log takes them. */
  readonly waiting: number;
  /** How often messages were given up since the start. */
  readonly losses: number;
  /**
   * Adds a message soon, once, and after the earlier ones of this control plane on its topic, also when the bus is away meanwhile. When too many
   * wait, one that says so takes their place.
   */
  append(topic: string, text: string): void;
  /** To be called once, before {@link start}. */
  follow(follower: LogFollower): void;
  /**
   * Resolves when the log has been read, and after some seconds also while the bus is away.
   * @throws AppError `invalid` when the server of the bus keeps no messages
   */
  start(): Promise<void>;
  /** Sends what waits if that is possible soon. */
  stop(): Promise<void>;
}
