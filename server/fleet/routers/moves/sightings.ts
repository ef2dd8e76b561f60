import { AppError } from '../../../platform/core/errors.ts';
import { Gathered } from '../../../platform/core/gathered.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { Sighted, Sighting } from './service.ts';
import { isContended, lockTeam } from './store.ts';

/** Sightings of one transaction: each takes about half a millisecond on SQLite, during which reads wait. */
const AT_ONCE = 50;

type Outcome = PromiseSettledResult<Sighted>;

/**
 * Stores what agents report of their routers, together what comes at the same time. Each new router locks its team: thousands of
 * transactions that wait for one another would hold every connection to PostgreSQL for longer than anybody waits for one.
 */
export class Sightings {
  readonly #batches: Gathered<Sighting, Outcome>;
  readonly #storage: Storage;
  readonly #record: (tx: Tx, sighting: Sighting) => Promise<Sighted>;

  constructor(storage: Storage, record: (tx: Tx, sighting: Sighting) => Promise<Sighted>) {
    this.#storage = storage;
    this.#record = record;
    this.#batches = new Gathered({ most: AT_ONCE, run: (sightings) => this.#runAll(sightings), keyOf: ({ agentId }) => agentId });
  }

  /** @throws AppError when it cannot be stored */
  async store(sighting: Sighting): Promise<Sighted> {
    const outcome = await this.#batches.call(sighting);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  /** Resolves when everything so far is stored, or could not be stored. */
  stop(): Promise<void> {
    return this.#batches.stop();
  }

  /** One transaction for each team, so that no two wait for each other's teams. */
  async #runAll(sightings: readonly Sighting[]): Promise<Outcome[]> {
    const outcomes = new Map<Sighting, Outcome>();
    for (const ofTeam of Map.groupBy(sightings, ({ teamId }) => teamId).values())
      for (const [index, outcome] of (await this.#runTeam(ofTeam)).entries()) outcomes.set(ofTeam[index]!, outcome);
    return sightings.map((sighting) => outcomes.get(sighting)!);
  }

  async #runTeam(sightings: readonly Sighting[]): Promise<Outcome[]> {
    try {
      return (await this.#write(sightings)).map((value) => ({ status: 'fulfilled', value }));
    } catch (reason) {
      // When the database is away, each of them would only wait as long again.
      const isAway = reason instanceof AppError && (reason.code === 'unavailable' || reason.code === 'outcome_unknown');
      if ((isAway && !isContended(reason)) || sightings.length === 1) return sightings.map(() => ({ status: 'rejected', reason }));
    }
    // One that cannot be stored must not lose the others.
    const outcomes: Outcome[] = [];
    for (const sighting of sightings) outcomes.push(...(await this.#runTeam([sighting])));
    return outcomes;
  }

  #write(sightings: readonly Sighting[]): Promise<Sighted[]> {
    return this.#storage.writes.write(async (tx) => {
      // In the order of removals and replacements: the team, then its routers. One sighting locks a router or the team, hardly ever both.
      if (sightings.length > 1) await lockTeam(tx, sightings[0]!.teamId);
      const sighted: Sighted[] = [];
      for (const sighting of sightings) sighted.push(await this.#record(tx, sighting));
      return sighted;
    });
  }
}
