import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { IdSequence, idTime, timeDigits } from './id-sequence.ts';

/**
 * One for the process, because records of different services are put in order by their ids. Who needs a sequence of its own makes
 * one. The other states of modules are `bulkPace` (runtime), `routerPace` and `replyRoom` (agent): each shares out what the process
 * has once, its event loop or its memory.
 */
const ofThisProcess = new IdSequence();

/**
 * A UUIDv7, greater than every one that this process has made for the same or an earlier moment. Randomness comes from
 * UUIDv4s, of which Node keeps a stock; asking the system for each id takes 20 times as long.
 */
export function newId(now: number): string {
  return ofThisProcess.next(now);
}

/** Below every id made at or after `at`, above every earlier one: a range of time by primary key. */
export function idFloor(at: number): string {
  return `${timeDigits(idTime(at))}-`;
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
