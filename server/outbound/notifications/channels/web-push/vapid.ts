import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { JWK } from 'jose';

/** RFC 8292: who sends a push message. A browser subscribes to one key, and its push service takes messages with no other. */

const ALGORITHM = 'ES256';
/** The RFC allows a day; a clock may be wrong by some hours. */
const LIFETIME_SECONDS = 12 * 3600;

export interface VapidKeys {
  /** The private key with its public part, on P-256. */
  privateJwk: JWK;
  /** What a browser subscribes with: the uncompressed point in base64url. */
  publicKey: string;
}

export async function newVapidKeys(): Promise<VapidKeys> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  return { privateJwk, publicKey: publicKeyOf(privateJwk) };
}

export function publicKeyOf({ x = '', y = '' }: JWK): string {
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]).toString('base64url');
}

/**
 * The header `Authorization` for one push service.
 * @param subject whom its operator may ask: a `mailto:` or https address
 */
export async function vapidHeader({ privateJwk, publicKey }: VapidKeys, endpoint: string, subject: string, now: number): Promise<string> {
  const token = await new SignJWT({ sub: subject })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setAudience(new URL(endpoint).origin)
    .setExpirationTime(Math.floor(now / 1000) + LIFETIME_SECONDS)
    .sign(await importJWK(privateJwk, ALGORITHM));
  return `vapid t=${token}, k=${publicKey}`;
}
