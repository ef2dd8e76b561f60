import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Log } from '../core/log.ts';
import type { IsTrustedProxy } from './client-address.ts';

/** Headers in which proxies name the client, most common first. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded'];
/** Limits log lines, because any client can send such a header. */
const WARN_EVERY_MS = 3_600_000;

export interface IgnoredForwardingDeps {
  isTrusted: IsTrustedProxy;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  log: Log;
}

/**
 * Detects an untrusted proxy: requests with a forwarding header from an address that is not a trusted proxy. All clients behind
 * such a proxy count as one. A client that sends the header itself also triggers the warning, which is harmless.
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

  /** Checks one request; warns about the first, and once an hour about further ones. */
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
