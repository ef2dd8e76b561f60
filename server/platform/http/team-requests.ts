import { mayHaveOneMore } from '../../../runtime/fair-shares.ts';
import type { Principal } from '../core/principal.ts';
import { SlidingWindow } from '../core/sliding-window.ts';

/**
 * Times the limit of one caller. With the usual 60 a minute these are 150 requests a second: half of what one process answers, at
 * some 3 ms of work for each. A team may have 1,000 API keys, which could otherwise ask 1,000 times a second.
 */
export const TEAM_FACTOR = 150;

/** Counts the requests of each team in the window, and shares them out among its API keys and people. */
export class TeamRequests {
  readonly #mostOfTeam: number;
  readonly #teams: SlidingWindow;
  readonly #callers: SlidingWindow;

  /** @param monotonic elapsed time in milliseconds */
  constructor(perCaller: number, windowMs: number, monotonic: () => number) {
    this.#mostOfTeam = perCaller * TEAM_FACTOR;
    this.#teams = new SlidingWindow(windowMs, monotonic);
    this.#callers = new SlidingWindow(windowMs, monotonic);
  }

  /**
   * Counts one request, unless the caller has had as many in the window as its team has left: so there is always room for those who
   * have had few.
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
