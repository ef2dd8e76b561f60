import type { WebhookRules } from './types.ts';

interface Claimable {
  origin: string;
  team_id: string;
}

/**
 * Who may be sent to next. Every receiver and every team has a share of what is sent at the same time, so that one
 * that hangs delays nobody else.
 */
export class Turns {
  readonly #limits: WebhookRules['atOnce'];
  readonly #byOrigin = new Map<string, number>();
  readonly #byTeam = new Map<string, number>();
  #taken = 0;

  constructor(limits: WebhookRules['atOnce']) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#taken >= this.#limits.total;
  }

  /** Receivers and teams that have to wait. */
  get busy(): { origins: string[]; teams: string[] } {
    return { origins: atLeast(this.#byOrigin, this.#limits.perOrigin), teams: atLeast(this.#byTeam, this.#limits.perTeam) };
  }

  /** Takes a turn; false when there is none for it now. */
  take({ origin, team_id: team }: Claimable): boolean {
    const isBusy = (this.#byOrigin.get(origin) ?? 0) >= this.#limits.perOrigin || (this.#byTeam.get(team) ?? 0) >= this.#limits.perTeam;
    if (this.isFull || isBusy) return false;
    this.#taken += 1;
    add(this.#byOrigin, origin, 1);
    add(this.#byTeam, team, 1);
    return true;
  }

  giveBack({ origin, team_id: team }: Claimable): void {
    this.#taken -= 1;
    add(this.#byOrigin, origin, -1);
    add(this.#byTeam, team, -1);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function atLeast(counts: ReadonlyMap<string, number>, limit: number): string[] {
  return [...counts].filter(([, count]) => count >= limit).map(([key]) => key);
}
