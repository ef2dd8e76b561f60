import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Log } from '../core/log.ts';
import type { IsTrustedProxy } from './client-address.ts';

/** What proxies say of the client, in order of how common they are. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded'];
/** Anybody can send such a header as often as they like. */
const WARN_EVERY_MS = 3_600_000;

export interface IgnoredForwardingDeps {
  isTrusted: IsTrustedProxy;
  /** Elapsed time in milliseconds. */
  monotonic: () => number;
  log: Log;
}

/**
 * Notices a proxy that is not trusted: requests that say for whom they were forwarded, from an address whose word is not taken.
 * All clients behind such a proxy count as one. A stranger who sends the header himself is noticed as well; it does no harm.
 */
export class IgnoredForwarding {
  readonly #deps: IgnoredForwardingDeps;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** Requests since the start. */
  count = 0;

  constructor(deps: IgnoredForwardingDeps) {
    this.#deps = deps;
  }

  /** Before Fastify sees a request, and of upgrades, which it never sees. */
  watch(server: Server): void {
    server.prependListener('request', (request: IncomingMessage) => this.look(request));
    server.prependListener('upgrade', (request: IncomingMessage) => this.look(request));
  }

  /** Looks at one request; warns of the first, and once an hour of further ones. */
  look({ headers, socket }: IncomingMessage): void {
    const header = FORWARDING_HEADERS.find((name) => headers[name] !== undefined);
    const address = socket.remoteAddress ?? '';
    const { isTrusted, monotonic, log } = this.#deps;
    if (header === undefined || isTrusted(address, 0)) return;
    this.count += 1;
    const now = monotonic();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    log.warn({ source: address, count: this.count, reason: `${header} is not believed` }, IGNORED_FORWARDING);
  }
}

export const IGNORED_FORWARDING =
  'requests are forwarded by an address that is not a trusted proxy, so all clients behind it count as one: if it is your proxy, name it in SIGNALBOX_TRUST_PROXY';
