import { mayHaveOneMore } from '../../../runtime/fair-shares.ts';
import type { Principal } from '../core/principal.ts';
import { REQUEST_WINDOW_MS } from '../core/request-window.ts';
import type { RequestWindow } from '../core/request-window.ts';
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

/**
 * The same for several control planes: they count the requests of a team together. How many of them a caller has made each knows of its own
 * ones only, so that one who asks all of them may take the more of what is left, by as many times as there are control planes.
 */
export class SharedTeamRequests {
  readonly #mostOfTeam: number;
  readonly #teams: RequestWindow;
  readonly #callers: SlidingWindow;

  /** @param monotonic monotonic milliseconds */
  constructor(perCaller: number, { teams, monotonic }: { teams: RequestWindow; monotonic: () => number }) {
    this.#mostOfTeam = perCaller * TEAM_FACTOR;
    this.#teams = teams;
    this.#callers = new SlidingWindow(REQUEST_WINDOW_MS, monotonic);
  }

  /** As {@link TeamRequests.take}. @throws AppError `unavailable` while the database is away */
  async take({ id, teamId }: Principal): Promise<number> {
    const most = this.#mostOfTeam;
    const team = await this.#teams.look(teamId, most);
    if (!mayHaveOneMore({ held: this.#callers.look(id).current, left: most - team.current })) return Math.max(1, team.ttl);
    const taken = await this.#teams.take(teamId, most);
    if (taken.current > most) return Math.max(1, taken.ttl);
    this.#callers.take(id, most);
    return 0;
  }
}
