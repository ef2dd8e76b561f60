import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { hasRole, isSameCaller } from '../core/principal.ts';
import type { Principal, Role } from '../core/principal.ts';
import { TurnMarks } from '../core/turn-marks.ts';
import type { App } from './app.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication hook; null on routes that need no credential. */
    principal: Principal | null;
    /** The turn of the event loop in which the caller was identified; null if the whole request had arrived before. */
    identifiedEarlyIn: object | null;
  }
  interface FastifyContextConfig {
    /** The minimum role of the caller; `viewer` by default. */
    role?: Role;
    /** Only for administrators of the installation, whatever their role in the team. */
    installation?: true;
  }
}

export type Authenticate = (bearer: string) => Promise<Principal | undefined>;

/** One `Bearer` credential; anything else counts as none. */
const BEARER = /^Bearer +([^\s]{1,4096})$/i;

export function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}

/**
 * Identifies the caller of every route registered in `scope` after this call, without rejecting any: the rate limit,
 * which comes next, counts authenticated callers by key and others by address.
 */
export function identifyCaller(scope: App, authenticate: Authenticate): void {
  scope.decorateRequest('principal', null);
  scope.decorateRequest('identifiedEarlyIn', null);
  const turns = new TurnMarks();
  scope.addHook('onRequest', async (request) => {
    const bearer = bearerOf(request.headers.authorization);
    request.principal = (bearer === undefined ? undefined : await authenticate(bearer)) ?? null;
    // Node says so only in the next turn, also of a request that came in one piece.
    if (request.principal !== null && !request.raw.complete) request.identifiedEarlyIn = turns.current;
  });
  // A body may take half a minute to arrive, so the credential is checked again: a key that was revoked
  // in the meantime could otherwise create its own successor.
  scope.addHook('preValidation', async (request) => {
    if (request.identifiedEarlyIn === null || request.identifiedEarlyIn === turns.current) return;
    const before = request.principal;
    const now = await authenticate(bearerOf(request.headers.authorization) ?? '');
    if (!isSameCaller(now, before)) throw notValid();
    request.principal = now;
  });
}

function notValid(): AppError {
  return new AppError('unauthenticated', 'the credential is not valid');
}

/** Rejects unauthenticated callers. */
export function requireCaller(scope: App): void {
  scope.addHook('onRequest', async (request) => {
    if (request.principal) return;
    const given = bearerOf(request.headers.authorization) !== undefined;
    throw given ? notValid() : new AppError('unauthenticated', 'the Authorization header must be: Bearer <API key or access token>');
  });
}

/** Rejects callers without the role or the right that the route requires. */
export function requireRole(scope: App): void {
  scope.addHook('preValidation', async (request: FastifyRequest, _reply: FastifyReply) => {
    const needed = request.routeOptions.config.role ?? 'viewer';
    if (!hasRole(principalOf(request), needed)) {
      throw new AppError('forbidden', `this needs the role ${needed}`);
    }
    if (request.routeOptions.config.installation && !principalOf(request).isInstallationAdmin) {
      throw new AppError('forbidden', 'this is for administrators of the installation, signed in to the web application');
    }
  });
}

/** The caller of an authenticated route. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new AppError('unauthenticated', 'a credential is needed');
  return request.principal;
}

/** A caller cannot grant a higher role than their own. @throws AppError `forbidden` */
export function checkGrant(request: FastifyRequest, role: Role): void {
  if (!hasRole(principalOf(request), role)) throw new AppError('forbidden', `you do not have the role ${role} yourself`);
}
