import { createHash, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';

/**
 * A UUIDv7 (RFC 9562): 48 bits of time first, so that ids sort by creation and index pages fill in order. The rest is
 * taken from a UUIDv4, for which Node keeps randomness in stock; asking the system for each id takes 20 times as long.
 */
export function newId(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Below every id made at or after `at`, above every earlier one: a range of time by primary key. */
export function idFloor(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-`;
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
