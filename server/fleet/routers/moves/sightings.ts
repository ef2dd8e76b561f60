import { Gathered } from '../../../platform/core/gathered.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { RouterRecord } from '../types.ts';
import { storeNewcomers } from './newcomers/store.ts';
import type { Sighted, Sighting } from './service.ts';
import { concernsAll, lockTeam } from './store.ts';

/** Sightings of one transaction: of new routers, 200 take about 10 ms on SQLite, during which reads wait. */
const AT_ONCE = 200;
/** Those that are looked at one by one: each takes about half a millisecond. */
const SINGLY_AT_ONCE = 50;

type Outcome = PromiseSettledResult<Sighted>;

/**
 * Stores what agents report of their routers, together what comes at the same time. Each new router locks its team: thousands of
 * transactions that wait for one another would hold every connection to PostgreSQL for longer than anybody waits for one.
 */
export class Sightings {
  readonly #batches: Gathered<Sighting, Outcome>;
  readonly #storage: Storage;
  readonly #record: (tx: Tx, sighting: Sighting) => Promise<Sighted>;

  constructor(storage: Storage, record: (tx: Tx, sighting: Sighting) => Promise<Sighted>, agentsApartMs = 0) {
    this.#storage = storage;
    this.#record = record;
    this.#batches = new Gathered({
      most: AT_ONCE,
      apartMs: agentsApartMs,
      run: (sightings) => this.#runAll(sightings),
      keyOf: ({ agentId }) => agentId,
    });
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
    let newcomers = new Map<Sighting, RouterRecord>();
    try {
      newcomers = await this.#storeNewcomers(sightings);
    } catch (reason) {
      if (concernsAll(reason)) return sightings.map(() => ({ status: 'rejected', reason }));
    }
    const outcomes = new Map<Sighting, Outcome>();
    for (const [sighting, router] of newcomers) outcomes.set(sighting, { status: 'fulfilled', value: { router, changes: [] } });
    const rest = sightings.filter((sighting) => !newcomers.has(sighting));
    for (let start = 0; start < rest.length; start += SINGLY_AT_ONCE) {
      const some = rest.slice(start, start + SINGLY_AT_ONCE);
      for (const [index, outcome] of (await this.#runSingly(some)).entries()) outcomes.set(some[index]!, outcome);
    }
    return sightings.map((sighting) => outcomes.get(sighting)!);
  }

  #storeNewcomers(sightings: readonly Sighting[]): Promise<Map<Sighting, RouterRecord>> {
    // One by itself takes as many statements either way.
    if (sightings.length === 1) return Promise.resolve(new Map());
    return this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, sightings[0]!.teamId);
      return storeNewcomers(tx, sightings);
    });
  }

  async #runSingly(sightings: readonly Sighting[]): Promise<Outcome[]> {
    try {
      return (await this.#write(sightings)).map((value) => ({ status: 'fulfilled', value }));
    } catch (reason) {
      if (concernsAll(reason) || sightings.length === 1) return sightings.map(() => ({ status: 'rejected', reason }));
    }
    // One that cannot be stored must not lose the others.
    const outcomes: Outcome[] = [];
    for (const sighting of sightings) outcomes.push(...(await this.#runSingly([sighting])));
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
