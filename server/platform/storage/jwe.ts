import { randomBytes, webcrypto } from 'node:crypto';
import { z } from 'zod';

/**
 * Compact JWE (RFC 7516) with the algorithms `dir` and A256GCM only, as `jose` makes and reads it. By hand because `jose` turns bytes
 * into base64url in JavaScript: there and back, a backup of 8 MB held the event loop for 0.26 to 0.57 s. Here nearly all of the time
 * is Buffer's own copying, 0.1 s (test/unit/jwe.test.ts compares the two). The cipher itself runs in a thread of Node.
 */

/** Bytes; NIST SP 800-38D and RFC 7518 section 5.3. A shorter tag would be accepted by the cipher, and could be guessed. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

const headerSchema = z.strictObject({ alg: z.literal('dir'), enc: z.literal('A256GCM'), kid: z.string(), purpose: z.string() });

export type JweHeader = Omit<z.infer<typeof headerSchema>, 'alg' | 'enc'>;

/** @param key 256 bits */
export async function encryptJwe(key: Uint8Array, { kid, purpose }: JweHeader, plain: Uint8Array): Promise<string> {
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid, purpose })).toString('base64url');
  const iv = randomBytes(IV_BYTES);
  const sealed = Buffer.from(await webcrypto.subtle.encrypt(cipher(iv, header), await cipherKey(key, 'encrypt'), bytes(plain)));
  const end = sealed.length - TAG_BYTES;
  return `${header}..${iv.toString('base64url')}.${sealed.toString('base64url', 0, end)}.${sealed.toString('base64url', end)}`;
}

/** @throws Error when it is malformed or was changed; `keyOf` may throw for an unknown key */
export async function decryptJwe(jwe: string, keyOf: (kid: string) => Uint8Array): Promise<JweHeader & { plain: Uint8Array }> {
  const [header = '', encryptedKey, ivText = '', content = '', tagText = '', ...more] = jwe.split('.');
  if (encryptedKey !== '' || more.length > 0) throw new Error('not a compact JWE with a key of its own');
  const { kid, purpose } = headerSchema.parse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')));
  const [iv, tag] = [Buffer.from(ivText, 'base64url'), Buffer.from(tagText, 'base64url')];
  if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) throw new Error('the initialisation vector or the tag has the wrong length');
  const sealed = Buffer.concat([Buffer.from(content, 'base64url'), tag]);
  const plain = await webcrypto.subtle.decrypt(cipher(iv, header), await cipherKey(keyOf(kid), 'decrypt'), bytes(sealed));
  return { kid, purpose, plain: new Uint8Array(plain) };
}

function cipher(iv: Uint8Array, header: string): webcrypto.AesGcmParams {
  return { name: 'AES-GCM', iv: bytes(iv), additionalData: bytes(Buffer.from(header, 'ascii')), tagLength: 8 * TAG_BYTES };
}

function cipherKey(key: Uint8Array, use: 'encrypt' | 'decrypt'): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('raw', bytes(key), 'AES-GCM', false, [use]);
}

/** Web Crypto's types require bytes that are not shared between threads. */
function bytes(data: Uint8Array): Uint8Array<ArrayBuffer> {
  return data as Uint8Array<ArrayBuffer>;
}
