import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Principal } from '../../../platform/core/principal.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { selectPreferences, storePreferences } from './store.ts';
import type { Preferences } from './types.ts';

/** Settings of people in the application, for each of their teams. */
export class PreferencesService {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** @throws AppError `forbidden` for an API key */
  async get(caller: Principal): Promise<Preferences> {
    return (await selectPreferences(this.#storage.db, ownerOf(caller))) ?? { content: {}, version: 0 };
  }

  /**
   * Replaces them. @param seen the version that the caller has read; undefined: whatever they are now
   * @throws AppError `forbidden` for an API key; `precondition_failed` when somebody has changed them since
   */
  async put(caller: Principal, content: Preferences['content'], seen: number | undefined): Promise<Preferences> {
    const owner = ownerOf(caller);
    const now = this.#clock.now();
    const version = await this.#storage.writes.write((tx) => storePreferences(tx, owner, { content, seen, now }));
    if (version === undefined)
      throw new AppError('precondition_failed', 'the preferences have changed since you read them: read them again');
    return { content, version };
  }
}

function ownerOf({ kind, id, teamId }: Principal): { teamId: string; userId: string } {
  if (kind !== 'user') throw new AppError('forbidden', 'an API key has no preferences');
  return { teamId, userId: id };
}
