import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { exportJWK } from 'jose';
import type { JWK } from 'jose';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { lockNodes } from '../../../platform/nodes/store.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { deleteKeys, insertKey, selectKeys } from './store.ts';
import type { KeyKind, StoredKey } from './store.ts';

/** The algorithm that every OpenID client supports. */
export const SIGNING_ALGORITHM = 'RS256';
const PURPOSE = 'identity-key';
/** Clients cache the published keys for ten minutes: a key must be published for longer before it signs. */
const PUBLISH_AHEAD_MS = 15 * 60_000;
/** A connection is checked against the key of its token while it is open: {@link LONGEST_CONNECTION_MS}, plus an hour. */
const KEEP_AFTER_MS = 13 * 3600_000;

const generate = promisify(generateKeyPair);

export interface KeysDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText'>;
}

/** The keys of the provider. Equal `version` means equal keys in equal order. */
export interface ProviderKeys {
  version: string;
  /** Private keys: the first signs, every one is published. */
  signing: JWK[];
  cookie: string[];
}

/** State of one signing key, for the command line. */
export interface SigningKeyState {
  id: string;
  state: 'next' | 'signing' | 'published';
  createdAt: number;
  activeAt: number;
}

/** The keys that sign tokens and cookies: created at the first start, stored encrypted, rotated without interruption. */
export class ProviderKeyring {
  readonly #deps: KeysDeps;

  constructor(deps: KeysDeps) {
    this.#deps = deps;
  }

  /**
   * The current keys, created if there are none yet.
   * @throws AppError `internal` when they cannot be decrypted
   */
  async load(): Promise<ProviderKeys> {
    let stored = await selectKeys(this.#deps.storage.db);
    // One by one: a start that was interrupted between the two is completed by the next.
    const missing = (['signing', 'cookie'] as const).filter((kind) => !stored.some((key) => key.kind === kind));
    for (const kind of missing) await this.#makeFirst(kind);
    if (missing.length > 0) stored = await selectKeys(this.#deps.storage.db);
    const { current, next, previous } = this.#sort(stored);
    const signing = [...current, ...previous, ...next];
    const cookie = stored.filter(({ kind }) => kind === 'cookie');
    const secrets = (keys: StoredKey[]) => Promise.all(keys.map((key) => this.#deps.secrets.decryptText(PURPOSE, key.secret)));
    return {
      version: versionOf([...signing, ...cookie]),
      signing: (await secrets(signing)).map((json) => JSON.parse(json) as JWK),
      cookie: await secrets(cookie),
    };
  }

  /** Changes when {@link load} would return other keys. */
  async version(): Promise<string> {
    const stored = await selectKeys(this.#deps.storage.db);
    const { current, next, previous } = this.#sort(stored);
    return versionOf([...current, ...previous, ...next, ...stored.filter(({ kind }) => kind === 'cookie')]);
  }

  async list(): Promise<SigningKeyState[]> {
    const { current, next, previous } = this.#sort(await selectKeys(this.#deps.storage.db));
    const shown = (keys: StoredKey[], state: SigningKeyState['state']) =>
      keys.map(({ id, createdAt, activeAt }) => ({ id, state, createdAt, activeAt }));
    return [...shown(next, 'next'), ...shown(current, 'signing'), ...shown(previous, 'published')];
  }

  /**
   * Creates a key that is published at once and signs a quarter of an hour later.
   * @throws AppError `conflict` while another key is published and does not sign yet
   */
  async rotate(): Promise<SigningKeyState> {
    const { clock, storage } = this.#deps;
    const { next } = this.#sort(await selectKeys(storage.db));
    if (next[0])
      throw new AppError('conflict', `the key ${next[0].id} is published and signs from ${new Date(next[0].activeAt).toISOString()} on`);
    const { id, createdAt, activeAt } = await this.#make('signing', clock.now() + PUBLISH_AHEAD_MS);
    return { id, state: 'next', createdAt, activeAt };
  }

  /** For compromised keys: replaces them at once and invalidates everything that they signed. */
  async replace(): Promise<SigningKeyState> {
    const { clock, storage } = this.#deps;
    const old = await selectKeys(storage.db);
    const signing = await this.#seal('signing', clock.now());
    const cookie = await this.#seal('cookie', clock.now());
    await storage.writes.write(async (tx) => {
      await deleteKeys(
        tx,
        old.map(({ id }) => id),
      );
      await insertKey(tx, signing);
      await insertKey(tx, cookie);
    });
    return { id: signing.id, state: 'signing', createdAt: signing.createdAt, activeAt: signing.activeAt };
  }

  /** Deletes signing keys whose last token has expired. */
  async sweep(): Promise<void> {
    const { clock, storage } = this.#deps;
    const { current, previous } = this.#sort(await selectKeys(storage.db));
    const activeAt = current[0]?.activeAt ?? Number.POSITIVE_INFINITY;
    if (activeAt + KEEP_AFTER_MS > clock.now() || previous.length === 0) return;
    const ids = previous.map(({ id }) => id);
    await storage.writes.write((tx) => deleteKeys(tx, ids));
  }

  async #make(kind: KeyKind, activeAt: number): Promise<StoredKey> {
    const key = await this.#seal(kind, activeAt);
    await this.#deps.storage.writes.write((tx) => insertKey(tx, key));
    return key;
  }

  /** Several control planes may start together: the first one makes it. */
  async #makeFirst(kind: KeyKind): Promise<void> {
    const { storage, clock } = this.#deps;
    const key = await this.#seal(kind, clock.now());
    await storage.writes.write(async (tx) => {
      await lockNodes(tx, storage);
      if (!(await selectKeys(tx)).some((stored) => stored.kind === kind)) await insertKey(tx, key);
    });
  }

  async #seal(kind: KeyKind, activeAt: number): Promise<StoredKey> {
    const createdAt = this.#deps.clock.now();
    const id = newId(createdAt);
    const plain = kind === 'cookie' ? randomBytes(32).toString('base64url') : JSON.stringify(await newSigningKey(id));
    return { id, kind, secret: await this.#deps.secrets.encrypt(PURPOSE, plain), createdAt, activeAt };
  }

  /** Sorts signing keys by state: the newest active key signs. */
  #sort(stored: readonly StoredKey[]): Record<'current' | 'next' | 'previous', StoredKey[]> {
    const now = this.#deps.clock.now();
    const keys = stored.filter(({ kind }) => kind === 'signing');
    const due = keys.filter(({ activeAt }) => activeAt <= now);
    return { current: due.slice(0, 1), previous: due.slice(1), next: keys.filter(({ activeAt }) => activeAt > now) };
  }
}

function versionOf(keys: readonly StoredKey[]): string {
  return keys.map(({ id }) => id).join(' ');
}

async function newSigningKey(kid: string): Promise<JWK> {
  const { privateKey } = await generate('rsa', { modulusLength: 2048 });
  return { ...(await exportJWK(privateKey)), kid, alg: SIGNING_ALGORITHM, use: 'sig' };
}
