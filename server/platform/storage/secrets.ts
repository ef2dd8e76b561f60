import { createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { decryptJwe, encryptJwe } from './jwe.ts';

/** A JSON Web Key Set: the first key encrypts, every key decrypts, so that keys can be rotated without downtime. */
const keyFileSchema = z.object({
  keys: z.array(z.object({ kty: z.literal('oct'), kid: z.string().min(1), k: z.base64url().length(43) })).min(1),
});

interface SecretKey {
  kid: string;
  bytes: Uint8Array;
}

/** Tells one secret key from another, without a way back to it. */
export interface KeyFingerprint {
  id: string;
  fingerprint: string;
}

/** The purpose of a secret. It is authenticated with it, so that one stored secret cannot replace another. */
export type SecretPurpose = string;

/** Encrypts columns that a copy of the database must not reveal. JWE, `dir` + A256GCM. */
export class Secrets {
  readonly #current: SecretKey;
  readonly #byId: ReadonlyMap<string, Uint8Array>;

  constructor(keys: readonly [SecretKey, ...SecretKey[]]) {
    [this.#current] = keys;
    this.#byId = new Map(keys.map(({ kid, bytes }) => [kid, bytes]));
  }

  /**
   * Keyed hashes to recognise a text: without the key, short texts cannot be guessed from their hash.
   * @returns one for each key, the one to store first
   */
  fingerprints(purpose: SecretPurpose, text: string): string[] {
    return [...this.#byId.values()].map((bytes) =>
      createHmac('sha256', bytes).update(`fingerprint ${purpose} `).update(text).digest('hex'),
    );
  }

  /** Of all keys, the one that encrypts first. */
  get keys(): KeyFingerprint[] {
    return [...this.#byId].map(([id, bytes]) => ({ id, fingerprint: createHmac('sha256', bytes).update('which key').digest('hex') }));
  }

  /** Bytes that everyone with the same first key derives for this purpose, and nobody else. */
  derive(purpose: SecretPurpose, bytes: number): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#current.bytes, '', purpose, bytes));
  }

  /** @returns a compact JWE: text for a column */
  async encrypt(purpose: SecretPurpose, plain: Uint8Array | string): Promise<string> {
    const bytes = typeof plain === 'string' ? Buffer.from(plain, 'utf8') : plain;
    return encryptJwe(this.#current.bytes, { kid: this.#current.kid, purpose }, bytes);
  }

  /** @throws AppError `internal` when it was changed, is for another purpose, or its key is not in the file */
  async decrypt(purpose: SecretPurpose, jwe: string): Promise<Uint8Array> {
    try {
      const found = await decryptJwe(jwe, (kid) => this.#keyOf(kid));
      if (found.purpose === purpose) return found.plain;
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('internal', 'a stored secret is damaged', { cause });
    }
    throw new AppError('internal', 'a stored secret is for another purpose');
  }

  async decryptText(purpose: SecretPurpose, jwe: string): Promise<string> {
    return Buffer.from(await this.decrypt(purpose, jwe)).toString('utf8');
  }

  /** Whether a secret that was encrypted with this key can be read. */
  knows(kid: string): boolean {
    return this.#byId.has(kid);
  }

  #keyOf(kid: string): Uint8Array {
    const key = this.#byId.get(kid);
    if (key === undefined) throw new AppError('internal', `the key ${kid} of a stored secret is not in the secret key file`);
    return key;
  }
}

/** Null when there is no such file. Throws like {@link openSecrets}. */
export async function readSecrets(file: string): Promise<Secrets | null> {
  const text = await readIfThere(file);
  return text === undefined ? null : parseSecrets(file, text);
}

/**
 * Reads the secret key file, making it with a new key on the first start (mode 0600, on disk before it is used).
 * @throws AppError `invalid` for a file that holds no keys, `unavailable` when it can be neither read nor made
 */
export async function openSecrets(file: string): Promise<Secrets> {
  return (await readSecrets(file)) ?? parseSecrets(file, await makeKeyFile(file));
}

function parseSecrets(file: string, text: string): Secrets {
  const parsed = keyFileSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new AppError('invalid', `${file} is not a secret key file: it must be a JSON Web Key Set of 256-bit keys`);
  const [first, ...others] = parsed.data.keys.map(({ kid, k }) => ({ kid, bytes: Buffer.from(k, 'base64url') }));
  return new Secrets([first!, ...others]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(file, error);
  }
}

/** When two programs start at once, one creates the file and the other reads it: `link` never replaces a file. */
async function makeKeyFile(file: string): Promise<string> {
  const folder = path.dirname(path.resolve(file));
  const draft = `${file}.${randomUUID()}`;
  const key = { kty: 'oct', kid: randomBytes(6).toString('base64url'), k: randomBytes(32).toString('base64url') };
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(draft, `${JSON.stringify({ keys: [key] })}\n`);
    await link(draft, file).catch(unlessThere);
    await syncFolder(folder);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(file, error);
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new file name is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

function unusable(file: string, cause: unknown): AppError {
  return new AppError('unavailable', `the secret key file ${file} can be neither read nor made`, { cause });
}
