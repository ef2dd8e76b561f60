import { errors } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { hashSecret } from '../../../platform/core/ids.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { consumeRecord, deleteRecord, deleteRecordsOfGrant, selectRecord, selectRecordByUid, upsertRecord } from './store.ts';
import type { ProviderRecord } from './store.ts';

const PURPOSE = 'identity-record';
/** Lifetime of records without an expiry; the provider stores none. */
const DEFAULT_LIFE_S = 3600;

export interface RecordAdapterDeps {
  storage: Storage;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
  now: () => number;
}

/**
 * Storage of one model of the provider: sessions, grants, codes, refresh tokens, pending sign-ins. A copy of the database alone
 * is useless: ids, which are the bearer values, are hashed, and the rest is encrypted.
 */
export class RecordAdapter implements Adapter {
  readonly #model: string;
  readonly #deps: RecordAdapterDeps;

  constructor(model: string, deps: RecordAdapterDeps) {
    this.#model = model;
    this.#deps = deps;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn: number = DEFAULT_LIFE_S): Promise<void> {
    const record: ProviderRecord = {
      model: this.#model,
      id: hashSecret(id),
      payload: await this.#deps.secrets.encrypt(PURPOSE, JSON.stringify(payload)),
      grant_id: payload.grantId === undefined ? null : hashSecret(payload.grantId),
      uid: payload.uid === undefined ? null : hashSecret(payload.uid),
      account_id: accountOf(payload),
      client_id: payload.clientId ?? null,
      expires_at: payload.exp === undefined ? this.#deps.now() + expiresIn * 1000 : payload.exp * 1000,
      consumed_at: null,
    };
    await this.#deps.storage.writes.write((tx) => upsertRecord(tx, record));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#open(await selectRecord(this.#deps.storage.db, this.#model, hashSecret(id)));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#open(await selectRecordByUid(this.#deps.storage.db, this.#model, hashSecret(uid)));
  }

  /** The device flow is off. */
  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    const { storage, now } = this.#deps;
    const isFirst = await storage.writes.write((tx) => consumeRecord(tx, this.#model, hashSecret(id), now()));
    if (!isFirst) throw new errors.InvalidGrant('already used');
  }

  async destroy(id: string): Promise<void> {
    await this.#deps.storage.writes.write((tx) => deleteRecord(tx, this.#model, hashSecret(id)));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#deps.storage.writes.write((tx) => deleteRecordsOfGrant(tx, this.#model, hashSecret(grantId)));
  }

  async #open(record: ProviderRecord | undefined): Promise<AdapterPayload | undefined> {
    if (!record) return undefined;
    const payload = JSON.parse(await this.#deps.secrets.decryptText(PURPOSE, record.payload)) as AdapterPayload;
    return record.consumed_at === null ? payload : { ...payload, consumed: Math.floor(record.consumed_at / 1000) };
  }
}

/** A pending sign-in names its person in a nested field; it must end with the person's other records too. */
function accountOf({ accountId, result, session }: AdapterPayload): string | null {
  return accountId ?? result?.login?.accountId ?? session?.accountId ?? null;
}
