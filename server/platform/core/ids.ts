import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { IdSequence, idTime, timeDigits } from './id-sequence.ts';

/**
 * One for the process, because records of different services are ordered by their ids. Tests create their own.
 * The other states of modules are `bulkPace` (runtime), `cpuBudgets` and `replyMemory` (agent): each shares out what the process
 * has once, its event loop or its memory.
 */
const ofThisProcess = new IdSequence();

/**
 * A UUIDv7, greater than every one that this process has generated for the same or an earlier time. Randomness comes from
 * UUIDv4s, for which Node buffers random bytes; asking the system for each id takes 20 times as long.
 */
export function newId(now: number): string {
  return ofThisProcess.next(now);
}

/**
 * A UUIDv7 of this time that is the same in every process for the same name: what two of them make of one cause is stored once.
 * @param name unique for the kind of record, up to the cause
 */
export function derivedId(at: number, name: string): string {
  const time = timeDigits(idTime(at));
  const digits = hashSecret(`${time} ${name}`);
  const variant = ((Number.parseInt(digits[3]!, 16) & 0x3) | 0x8).toString(16);
  return `${time}-7${digits.slice(0, 3)}-${variant}${digits.slice(4, 7)}-${digits.slice(7, 19)}`;
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
 * SHA-256 in hex. Sufficient for random secrets (API keys, agent secrets, tokens): they cannot be guessed,
 * so a slow password hash would only cost time. People's passwords use Argon2 instead.
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
