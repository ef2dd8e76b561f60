import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { SIZES } from './attempt-counters.ts';
import type { AttemptCounter, AttemptCounters } from './attempt-counters.ts';
import { changeLevels, deleteEmptyCounters, lockLevels } from './store.ts';
import type { DatabaseNow, LevelChange } from './store.ts';

const PURPOSE = 'sign-in attempts';

export interface SharedAttemptsDeps {
  storage: Pick<Storage, 'db' | 'writes'>;
  secrets: Pick<Secrets, 'fingerprints'>;
  /** Instead of the clock of the database, milliseconds. */
  databaseNow?: DatabaseNow;
}

/**
 * The counters of several control planes, in PostgreSQL and by its clock. Their names are keyed hashes: people type passwords into the
 * field for the address.
 */
export class SharedAttempts implements AttemptCounters {
  readonly #deps: SharedAttemptsDeps;

  constructor(deps: SharedAttemptsDeps) {
    this.#deps = deps;
  }

  async take(counted: readonly AttemptCounter[], looked: readonly AttemptCounter[]): Promise<number> {
    const named = [...counted, ...looked].map((counter) => ({ key: this.#keyOf(counter), size: SIZES[counter.kind] }));
    return this.#deps.storage.writes.write(async (tx) => {
      const levels = await lockLevels(tx, [...new Set(named.map(({ key }) => key))], this.#deps.databaseNow);
      const waitsMs = named.map(({ key, size: { capacity, leakMs } }) => {
        return Math.min(levels.get(key) ?? 0, capacity * leakMs) - (capacity - 1) * leakMs;
      });
      const waitMs = Math.max(0, ...waitsMs);
      if (waitMs === 0) await changeLevels(tx, this.#changesOf(counted, []), this.#deps.databaseNow);
      return waitMs;
    });
  }

  async change(added: readonly AttemptCounter[], takenBack: readonly AttemptCounter[]): Promise<void> {
    await changeLevels(this.#deps.storage.db, this.#changesOf(added, takenBack), this.#deps.databaseNow);
  }

  /** Deletes counters that have become empty. */
  async sweep(): Promise<void> {
    await deleteEmptyCounters(this.#deps.storage.db, this.#deps.databaseNow);
  }

  #changesOf(added: readonly AttemptCounter[], takenBack: readonly AttemptCounter[]): LevelChange[] {
    const changes = new Map<string, LevelChange>();
    const note = (counter: AttemptCounter, sign: 1 | -1): void => {
      const key = this.#keyOf(counter);
      const { capacity, leakMs } = SIZES[counter.kind];
      const change = changes.get(key) ?? { key, changeMs: 0, fullMs: capacity * leakMs };
      changes.set(key, { ...change, changeMs: change.changeMs + sign * leakMs });
    };
    for (const counter of added) note(counter, 1);
    for (const counter of takenBack) note(counter, -1);
    return [...changes.values()];
  }

  #keyOf({ kind, key }: AttemptCounter): string {
    return this.#deps.secrets.fingerprints(PURPOSE, `${kind} ${key}`)[0]!;
  }
}
