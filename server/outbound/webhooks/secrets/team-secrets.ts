import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { newWebhookSecret } from '../signature.ts';
import { insertSecret, retireSecret, selectValidSecrets } from './store.ts';
import type { StoredSecret } from './store.ts';

const PURPOSE = 'webhook';

export interface TeamSecretsDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
}

/** What is known of a team's secret besides itself. */
export interface SecretState {
  createdAt: number;
  /** Someone has seen it. */
  shown: boolean;
  /** Until when the one before it signs as well. */
  previousUntil: number | null;
}

/** What a team's updates are signed with. Shown once, when it is made; kept encrypted. */
export class TeamSecrets {
  readonly #deps: TeamSecretsDeps;

  constructor(deps: TeamSecretsDeps) {
    this.#deps = deps;
  }

  /**
   * The secrets to sign with, the newest first. A team that has none gets one that nobody has seen: its updates are
   * signed from the first, and whoever wants to check them asks for a new one.
   * @throws AppError `internal` when they cannot be decrypted
   */
  async signing(teamId: string): Promise<string[]> {
    const { storage, clock, secrets } = this.#deps;
    let valid = await selectValidSecrets(storage.db, teamId, clock.now());
    if (!valid.some((secret) => secret.expiresAt === null)) {
      await this.#make(teamId, { shown: false, overlapMs: 0 });
      valid = await selectValidSecrets(storage.db, teamId, clock.now());
    }
    return Promise.all(valid.map((row) => secrets.decryptText(PURPOSE, row.secret)));
  }

  /** Undefined while the team has none. */
  async state(teamId: string): Promise<SecretState | undefined> {
    const { storage, clock } = this.#deps;
    return toState(await selectValidSecrets(storage.db, teamId, clock.now()));
  }

  /**
   * A new secret, shown here and never again; the one before it signs as well for `overlapMs`.
   * @throws AppError `conflict` when another one is being made at the same time
   */
  async rotate(teamId: string, overlapMs: number): Promise<SecretState & { secret: string }> {
    const { storage, clock } = this.#deps;
    const secret = await this.#make(teamId, { shown: true, overlapMs });
    if (secret === undefined) throw new AppError('conflict', 'another secret is being made at this moment; try again');
    const state = toState(await selectValidSecrets(storage.db, teamId, clock.now()));
    return { ...state!, secret };
  }

  /** Undefined when someone else has made one at the same time. */
  async #make(teamId: string, wanted: { shown: boolean; overlapMs: number }): Promise<string | undefined> {
    const { storage, clock, secrets } = this.#deps;
    const now = clock.now();
    const secret = newWebhookSecret();
    const row = { id: newId(now), teamId, secret: await secrets.encrypt(PURPOSE, secret), shown: wanted.shown, now };
    const isMade = await storage.writes.write(async (tx) => {
      if (wanted.shown) await retireSecret(tx, teamId, now + wanted.overlapMs);
      return insertSecret(tx, row);
    });
    return isMade ? secret : undefined;
  }
}

function toState(valid: readonly StoredSecret[]): SecretState | undefined {
  const current = valid.find((secret) => secret.expiresAt === null);
  if (!current) return undefined;
  const previous = valid.find((secret) => secret.expiresAt !== null);
  return { createdAt: current.createdAt, shown: current.shown, previousUntil: previous?.expiresAt ?? null };
}
