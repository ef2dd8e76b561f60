import { callbackify } from 'node:util';
import rateLimit from '@fastify/rate-limit';
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { networkOf } from '../core/network-of.ts';
import type { App } from './app.ts';
import type { Counters } from '../core/counters.ts';
import { SharedTeamRequests, TeamRequests } from './team-requests.ts';
import { REQUEST_WINDOW_MS } from '../core/request-window.ts';
import type { RequestWindow, SharedWindows } from '../core/request-window.ts';
import { SlidingWindow } from '../core/sliding-window.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When it was about to be counted, elapsed milliseconds. */
    countedSince: number;
  }
  interface FastifyContextConfig {
    /** Multiplies the limit of authenticated callers for this route, which is then counted separately. */
    rateFactor?: number;
  }
}

/** 600 a minute for a person in the first-party application: a page makes ten requests where a program makes one. */
const OWN_SESSION_FACTOR = 10;

export interface RateLimit {
  perMinute: number;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  /** Callers that are not counted. */
  isExempt?: (request: FastifyRequest) => boolean;
  /** A name for an unauthenticated caller, counted instead of the network. */
  nameOf?: (request: FastifyRequest) => string | undefined;
  counters?: Counters;
  /** Where several control planes count together; undefined for one that serves alone. */
  shared?: SharedWindows | undefined;
}

/**
 * docs/interface.md: 60 requests per key in any 60 seconds; the next gets 429 with Retry-After. Register it after callers are
 * identified and before unauthenticated ones are rejected, so that wrong credentials count against their network and valid ones
 * against their key. Then the requests of all keys of a team are counted together.
 * @param name of the scope: the same caller is counted separately elsewhere
 * @returns returns the request to a known caller's limit. The team's limit still counts it, so that such requests are not unlimited
 */
export async function limitRequests(
  scope: App,
  name: string,
  { perMinute, monotonic, isExempt, nameOf, counters, shared }: RateLimit,
): Promise<(request: FastifyRequest) => void> {
  const window = shared?.of(name) ?? new SlidingWindow(REQUEST_WINDOW_MS, monotonic);
  const store = class extends Counts {
    constructor() {
      super(window);
    }
  };
  scope.decorateRequest('countedSince', 0);
  scope.addHook('onRequest', async (request) => {
    request.countedSince = monotonic();
  });
  await scope.register(rateLimit, { global: false, store, enableDraftSpec: true });
  // A hook of the scope rather than of each route: the plugin's route hooks would run after unauthenticated callers are rejected.
  const count = scope.rateLimit({
    max: (request) => perMinute * rateFactorOf(request) * (isOwnSession(request) ? OWN_SESSION_FACTOR : 1),
    timeWindow: REQUEST_WINDOW_MS,
    ...(isExempt ? { allowList: isExempt } : {}),
    keyGenerator: (request) => keyOf(request) ?? nameOf?.(request) ?? `network:${networkOf(request.ip)}`,
    errorResponseBuilder: (_request, { max, ttl }) =>
      new AppError('rate_limited', `more than ${max} requests in 60 seconds; try again in ${Math.ceil(ttl / 1000)} s`),
  });
  scope.addHook('onRequest', count);
  const teams = shared
    ? new SharedTeamRequests(perMinute, { teams: shared.of(`${name} of team`), monotonic })
    : new TeamRequests(perMinute, REQUEST_WINDOW_MS, monotonic);
  scope.addHook('onRequest', async ({ principal }) => {
    const waitMs = principal ? await teams.take(principal) : 0;
    if (waitMs === 0) return;
    counters?.add('requests_per_team');
    throw new AppError('rate_limited', `your team has made too many requests in 60 seconds; try again in ${Math.ceil(waitMs / 1000)} s`, {
      retryAfterMs: waitMs,
    });
  });
  return (request) => {
    const key = keyOf(request);
    if (key !== undefined) window.giveBack(key, request.countedSince);
  };
}

/** The key of an authenticated caller. */
function keyOf(request: FastifyRequest): string | undefined {
  if (!request.principal) return undefined;
  // Apart from what programs of others do in the person's name.
  const who = `${isOwnSession(request) ? 'own:' : 'key:'}${request.principal.id}`;
  return `${who}${rateFactorOf(request) === 1 ? '' : `:${request.routeOptions.url}`}`;
}

/** A person in the first-party application. */
function isOwnSession({ principal }: FastifyRequest): boolean {
  return principal?.kind === 'user' && principal.clientId === undefined;
}

function rateFactorOf(request: FastifyRequest): number {
  return request.principal ? (request.routeOptions.config.rateFactor ?? 1) : 1;
}

/** The plugin's own stores use fixed windows, which allow twice the limit across a window boundary. */
class Counts implements FastifyRateLimitStore {
  readonly #window: RequestWindow;

  constructor(window: RequestWindow) {
    this.#window = window;
  }

  incr(key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void, _windowMs?: number, max = 0): void {
    const counted = this.#window.take(key, max);
    if (counted instanceof Promise) callbackify(async () => counted)((error, count) => callback(error, count));
    else callback(null, counted);
  }

  child(): FastifyRateLimitStore {
    return this;
  }
}
