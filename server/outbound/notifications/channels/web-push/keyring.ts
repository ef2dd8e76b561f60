import type { JWK } from 'jose';
import type { Clock } from '../../../../platform/core/clock.ts';
import type { Storage } from '../../../../platform/storage/db.ts';
import type { Secrets } from '../../../../platform/storage/secrets.ts';
import { newVapidKeys, publicKeyOf } from './vapid.ts';
import type { VapidKeys } from './vapid.ts';

/** Of the one row: two processes that begin together cannot make two pairs. */
const ID = 'vapid';
const PURPOSE = 'vapid-key';

export interface VapidKeyringDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
}

/**
 * The keys to which browsers subscribe: made at their first use, stored encrypted beside those of the provider, and never changed. A
 * subscription belongs to one key, so with another one every browser would have to ask its person again.
 */
export class VapidKeyring {
  readonly #deps: VapidKeyringDeps;
  #kept: Promise<VapidKeys> | undefined;

  constructor(deps: VapidKeyringDeps) {
    this.#deps = deps;
  }

  /** @throws AppError `internal` when they cannot be decrypted; the next call tries again */
  load(): Promise<VapidKeys> {
    this.#kept ??= this.#read().catch((error: unknown) => {
      this.#kept = undefined;
      throw error;
    });
    return this.#kept;
  }

  async #read(): Promise<VapidKeys> {
    const stored = (await this.#stored()) ?? (await this.#make());
    const privateJwk = JSON.parse(await this.#deps.secrets.decryptText(PURPOSE, stored)) as JWK;
    return { privateJwk, publicKey: publicKeyOf(privateJwk) };
  }

  async #stored(): Promise<string | undefined> {
    const { db } = this.#deps.storage;
    return (await db.selectFrom('provider_keys').select('secret').where('id', '=', ID).executeTakeFirst())?.secret;
  }

  /** What is stored then, which another process may have made. */
  async #make(): Promise<string> {
    const { storage, clock, secrets } = this.#deps;
    const secret = await secrets.encrypt(PURPOSE, JSON.stringify((await newVapidKeys()).privateJwk));
    const now = clock.now();
    await storage.writes.write((tx) =>
      tx
        .insertInto('provider_keys')
        .values({ id: ID, kind: ID, secret, created_at: now, active_at: now })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute(),
    );
    return (await this.#stored())!;
  }
}
