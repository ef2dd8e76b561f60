import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UpstreamProof } from '../upstream/provider.ts';
import type { Exchange } from '../sign-in/interactions.ts';

const VISIT_BYTES = 32;
const VISIT = /^[\w-]{43}$/;

export interface LinkVisitsDeps {
  /** The public URL, without a slash at the end. */
  baseUrl: string;
  /** Path of the links below it. */
  path: string;
  /** Secret key of the server. */
  formKey: string;
}

/**
 * Identifies the browser that opened a link. The code alone must not be enough to answer as the invited person: the sender of the
 * link also knows it, and could make the person's browser submit a forged form. A cookie with a random value identifies the
 * browser, and every form of our page is bound to it.
 */
export class LinkVisits {
  readonly #path: string;
  readonly #formKey: string;
  readonly #name: string;
  readonly #attributes: string;

  constructor({ baseUrl, path, formKey }: LinkVisitsDeps) {
    const { protocol, pathname } = new URL(baseUrl);
    this.#path = `${pathname.replace(/\/$/, '')}${path}`;
    this.#formKey = formKey;
    this.#name = protocol === 'https:' ? '__Secure-signalbox-link' : 'signalbox-link';
    this.#attributes = `Path=${this.#path}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`;
  }

  /** The form target and its CSRF token. Sets the browser's cookie if it has none. */
  target(exchange: Exchange, code: string): { action: string; csrf: string } {
    const visit = this.#visitOf(exchange) ?? this.#begin(exchange);
    return { action: `${this.#path}/${encodeURIComponent(code)}`, csrf: this.#derive('form', code, visit) };
  }

  /** True for a form that our page submitted from this browser. */
  isOurForm(exchange: Exchange, code: string): boolean {
    const site = exchange.request.headers['sec-fetch-site'];
    const visit = this.#visitOf(exchange);
    if (visit === undefined || (site !== undefined && site !== 'same-origin')) return false;
    return isSame(exchange.form['csrf'] ?? '', this.#derive('form', code, visit));
  }

  /**
   * Binds a visit at the upstream identity provider to this one. The state names the invitation, not its code, which the
   * provider must not learn. Undefined for a browser without the cookie.
   */
  proofFor(exchange: Exchange, kind: string, id: string, redirectUri: string): UpstreamProof | undefined {
    const visit = this.#visitOf(exchange);
    if (visit === undefined) return undefined;
    const [state, nonce, verifier] = ['state', 'nonce', 'verifier'].map((purpose) => this.#derive(purpose, id, visit)) as [
      string,
      string,
      string,
    ];
    return { state: `${kind}.${id}.${state}`, nonce, verifier, redirectUri };
  }

  #begin({ response }: Exchange): string {
    const visit = randomBytes(VISIT_BYTES).toString('base64url');
    response.appendHeader('set-cookie', `${this.#name}=${visit}; ${this.#attributes}`);
    return visit;
  }

  #visitOf({ request }: Exchange): string | undefined {
    const prefix = `${this.#name}=`;
    const pair = (request.headers.cookie ?? '')
      .split(';')
      .map((part) => part.trim())
      .find((part) => part.startsWith(prefix));
    const visit = pair?.slice(prefix.length) ?? '';
    return VISIT.test(visit) ? visit : undefined;
  }

  #derive(purpose: string, ...parts: string[]): string {
    return createHmac('sha256', this.#formKey)
      .update(JSON.stringify([`link ${purpose}`, ...parts]))
      .digest('base64url');
  }
}

export function isSame(presented: string, expected: string): boolean {
  const [one, other] = [Buffer.from(presented), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
