/** Requests are limited in any stretch of this length, milliseconds. */
export const REQUEST_WINDOW_MS = 60_000;

/** The result of counting a request. */
export interface Count {
  /** Requests in the window including this one; `max + 1` when it is refused. */
  current: number;
  /** Milliseconds until the oldest of them leaves the window and makes room. */
  ttl: number;
}

/** Counts requests by key: never more than `max` in any {@link REQUEST_WINDOW_MS}. A key always has the same `max`. */
export interface RequestWindow {
  /** Counts one request, if there is room for it. */
  take(key: string, max: number): Count | Promise<Count>;
  /** How many are in the window now, and when the oldest leaves it. Counts nothing. */
  look(key: string, max: number): Count | Promise<Count>;
  /** Takes back one request of a key that was counted at that moment (elapsed milliseconds of this process) or later. */
  giveBack(key: string, since: number): void;
}

/** Windows that several control planes count in together. */
export interface SharedWindows {
  /** @param scope a name for whoever counts: the same key counts separately elsewhere */
  of(scope: string): RequestWindow;
}
