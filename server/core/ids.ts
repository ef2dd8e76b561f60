import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/**
 * A UUIDv7 (RFC 9562): 48 bits of time first, so that ids sort by creation and index pages fill in order.
 */
export function newId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random secret of letters and digits: 62 of them carry 369 bits. */
export function newSecret(length: number): string {
  let secret = '';
  for (let i = 0; i < length; i += 1) secret += ALPHABET[randomInt(ALPHABET.length)];
  return secret;
}

/**
 * SHA-256 in hex. Enough for secrets that are random themselves (API keys, agent secrets, tokens): there is
 * nothing to guess, so a slow password hash would only cost time. People's passwords use Argon2 instead.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret, 'utf8').digest('hex');
}

/** Compares a presented secret with a stored hash in constant time. */
export function secretMatches(secret: string, storedHash: string): boolean {
  const stored = Buffer.from(storedHash, 'hex');
  const presented = createHash('sha256').update(secret, 'utf8').digest();
  return stored.length === presented.length && timingSafeEqual(stored, presented);
}
