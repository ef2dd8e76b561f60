import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { newWebhookSecret } from '../../../platform/outgoing/signature.ts';
import { insertSecret, retireSecret, selectValidSecrets } from './store.ts';
import type { StoredSecret } from './store.ts';

const PURPOSE = 'webhook';

export interface TeamSecretsDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
}

/** State of a team's secret, without the secret. */
export interface SecretState {
  createdAt: number;
  /** True when it was shown to a user. */
  shown: boolean;
  /** Time until which the previous one also signs. */
  previousUntil: number | null;
}

/** The secrets that sign a team's updates. Shown once, at creation; stored encrypted. */
export class TeamSecrets {
  readonly #deps: TeamSecretsDeps;

  constructor(deps: TeamSecretsDeps) {
    this.#deps = deps;
  }

  /**
   * The secrets to sign with, newest first. A team without a secret gets one that is never shown: its updates are
   * signed from the first one on, and a user who wants to verify them creates a new secret.
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
   * Creates a new secret, returned only here; the previous one also signs for `overlapMs`.
   * @throws AppError `conflict` when another one is being created at the same time
   */
  async rotate(teamId: string, overlapMs: number): Promise<SecretState & { secret: string }> {
    const { storage, clock } = this.#deps;
    const secret = await this.#make(teamId, { shown: true, overlapMs });
    if (secret === undefined) throw new AppError('conflict', 'another secret is being created at the same time; try again');
    const state = toState(await selectValidSecrets(storage.db, teamId, clock.now()));
    return { ...state!, secret };
  }

  /** Undefined when another one was created at the same time. */
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
