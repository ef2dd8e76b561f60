import path from 'node:path';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { JWK } from 'jose';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { ProviderKeyring } from '../../../server/access/identity/keys/service.ts';
import { CONSOLE_CLIENT_ID } from '../../../server/access/identity/types.ts';
import { openSecrets } from '../../../server/platform/storage/secrets.ts';
import type { World } from '../world.ts';

/** Access tokens with the server's own signing key: right ones, and ones that are wrong in exactly one way. */
export class TokenMint {
  readonly #baseUrl: string;
  readonly #key: JWK;

  private constructor(baseUrl: string, key: JWK) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  static async open(world: World): Promise<TokenMint> {
    const secrets = await openSecrets(path.join(world.folder, 'secret.key'));
    const { signing } = await new ProviderKeyring({ storage: world.server.services.storage, clock: systemClock, secrets }).load();
    return new TokenMint(world.server.url, signing[0]!);
  }

  async token(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    return this.#sign(claims, { alg: 'RS256', kid: this.#key.kid, ...header }, await importJWK(this.#key, 'RS256'));
  }

  /** The old confusion: an HMAC whose secret everybody knows. */
  async signedWithPublicKey(claims: Record<string, unknown>): Promise<string> {
    return this.#sign(claims, { alg: 'HS256', kid: this.#key.kid }, Buffer.from(this.#key.n!));
  }

  /** Names our key and brings another one along. */
  async signedByStranger(claims: Record<string, unknown>): Promise<string> {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    return this.#sign(claims, { alg: 'RS256', kid: this.#key.kid, jwk: await exportJWK(publicKey) }, privateKey);
  }

  #sign(claims: Record<string, unknown>, header: Record<string, unknown>, key: Parameters<SignJWT['sign']>[0]): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const standard = { iss: `${this.#baseUrl}/oidc`, aud: this.#baseUrl, client_id: CONSOLE_CLIENT_ID, iat, exp: iat + 300 };
    return new SignJWT({ ...standard, ...claims }).setProtectedHeader({ typ: 'at+jwt', alg: 'RS256', ...header }).sign(key);
  }
}

/** The same signature under other claims. */
export function tampered(token: string, claims: Record<string, unknown>): string {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  return [header, encode({ ...decode(payload), ...claims }), signature].join('.');
}

/** `alg: none`. */
export function unsigned(token: string): string {
  const [header, payload] = token.split('.') as [string, string];
  return [encode({ ...decode(header), alg: 'none' }), payload, ''].join('.');
}

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
