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
  /** Sign-in time of the person, seconds; undefined in tokens of an earlier version. */
  loginTs: number | undefined;
}

/** Three parts in base64url, the first one beginning like a JSON object. No other credential of this server has this form. */
export function looksLikeJwt(bearer: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(bearer);
}

/** Verifies access tokens of the built-in provider offline. */
export class AccessTokenVerifier {
  readonly #keys: ReturnType<typeof createLocalJWKSet>;
  readonly #issuer: string;
  readonly #audience: string;

  constructor(keys: JSONWebKeySet, { issuer, audience }: { issuer: string; audience: string }) {
    this.#keys = createLocalJWKSet(keys);
    this.#issuer = issuer;
    this.#audience = audience;
  }

  /** Undefined for an invalid token: wrong type, signature, issuer or audience, or expired. */
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
