import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { SIGNING_ALGORITHM } from './keys/service.ts';

export interface AccessTokenClaims {
  userId: string;
  teamId: string;
  clientId: string;
  scopes: ReadonlySet<string>;
  /** Milliseconds. */
  issuedAt: number;
  /** When the person signed in, seconds; undefined in tokens of an earlier version. */
  loginTs: number | undefined;
}

/** Three parts of base64url, of which the first begins like a JSON object: no other credential of ours looks so. */
export function looksLikeJwt(bearer: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(bearer);
}

/** Checks access tokens of our own provider, without asking it. */
export class AccessTokenVerifier {
  readonly #keys: ReturnType<typeof createLocalJWKSet>;
  readonly #issuer: string;
  readonly #audience: string;

  constructor(keys: JSONWebKeySet, { issuer, audience }: { issuer: string; audience: string }) {
    this.#keys = createLocalJWKSet(keys);
    this.#issuer = issuer;
    this.#audience = audience;
  }

  /** Undefined for whatever is wrong with it: another type, signature, issuer or audience, or its time being over. */
  async verify(token: string, now: number): Promise<AccessTokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        typ: 'at+jwt',
        algorithms: [SIGNING_ALGORITHM],
        issuer: this.#issuer,
        audience: this.#audience,
        requiredClaims: ['sub', 'exp', 'iat', 'client_id', 'team'],
        currentDate: new Date(now),
      });
      return readClaims(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

function readClaims({ sub, team, client_id: clientId, scope, iat, auth_time: loginTs }: JWTPayload): AccessTokenClaims | undefined {
  if (typeof sub !== 'string' || typeof team !== 'string' || typeof clientId !== 'string' || iat === undefined) return undefined;
  const scopes = new Set(typeof scope === 'string' ? scope.split(' ') : []);
  return { userId: sub, teamId: team, clientId, scopes, issuedAt: iat * 1000, loginTs: typeof loginTs === 'number' ? loginTs : undefined };
}
