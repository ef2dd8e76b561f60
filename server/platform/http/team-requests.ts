import { mayHaveOneMore } from '../../../runtime/fair-shares.ts';
import type { Principal } from '../core/principal.ts';
import { SlidingWindow } from '../core/sliding-window.ts';

/**
 * A multiple of one caller's limit. With the usual 60 a minute it is 150 requests a second: half the capacity of one process, at
 * about 3 ms of work for each. A team may have 1,000 API keys, which could otherwise send 1,000 requests a second.
 */
export const TEAM_FACTOR = 150;

/** Counts the requests of each team in the window, and shares its limit among its API keys and users. */
export class TeamRequests {
  readonly #mostOfTeam: number;
  readonly #teams: SlidingWindow;
  readonly #callers: SlidingWindow;

  /** @param monotonic monotonic milliseconds */
  constructor(perCaller: number, windowMs: number, monotonic: () => number) {
    this.#mostOfTeam = perCaller * TEAM_FACTOR;
    this.#teams = new SlidingWindow(windowMs, monotonic);
    this.#callers = new SlidingWindow(windowMs, monotonic);
  }

  /**
   * Counts one request, unless the caller has already made as many in the window as its team has left, so that callers with few
   * requests always have room.
   * @returns milliseconds to wait when it is refused, 0 otherwise
   */
  take({ id, teamId }: Principal): number {
    const team = this.#teams.look(teamId);
    const left = this.#mostOfTeam - team.current;
    if (!mayHaveOneMore({ held: this.#callers.look(id).current, left })) return Math.max(1, team.ttl);
    this.#teams.take(teamId, this.#mostOfTeam);
    this.#callers.take(id, this.#mostOfTeam);
    return 0;
  }
}
