import type { Entry, EventType } from './types.ts';

/** Events that a reader has missed. */
export interface Missed {
  entries: Entry[];
  /** The reader has everything up to here with them: of what comes, only events after it are new to the reader. */
  upTo: number;
}

export interface HistoryFollower {
  /**
   * An event has its place. @param data its JSON
   * @param isPast it is from before {@link onLoss} or the start: no reader of this control plane waits for it
   */
  onEntry(teamId: string, entry: Entry, data: string, isPast: boolean): void;
  /** Events may be missing, of one team or of all: readers read their data again. */
  onLoss(reason: string, teamId?: string): void;
}

/** The order of each team's events, and the latest of them, so that a reader who was briefly disconnected misses nothing. */
export interface EventHistory {
  follow(follower: HistoryFollower): void;
  /** Gives an event its place after the earlier ones of the team, at once or soon. @param data its JSON */
  add(teamId: string, type: EventType, data: string): void;
  /** Id of the newest event, in the form of all ids: `<origin>.<number>`. */
  position(teamId: string): string;
  /** Id of a place in the history as it is now. */
  idOf(teamId: string, number: number): string;
  /** What a reader with this id has missed; undefined when that is not known any more. @throws AppError `unavailable` */
  after(teamId: string, id: string): Missed | undefined;
  /** No id from before counts any more. */
  forget(): void;
}

/** The origin and the number of an id; undefined for what is none. */
export function partsOf(id: string): { origin: string; number: number } | undefined {
  const match = /^(.+)\.(\d{1,15})$/.exec(id);
  return match ? { origin: match[1]!, number: Number(match[2]) } : undefined;
}
