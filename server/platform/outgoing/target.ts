import { mayNameHost, mayUsePlainHttp } from '../core/public-address.ts';
import type { AddressRules } from '../core/public-address.ts';

/** Permitted targets. Pure; it checks the address of the connection, not an earlier look-up. */

/** A forbidden target. */
export class TargetRefused extends Error {
  readonly word: 'url_refused' | 'address_refused';

  constructor(word: 'url_refused' | 'address_refused', message: string) {
    super(message);
    this.name = 'TargetRefused';
    this.word = word;
  }
}

/**
 * Checks what is known before a look-up: the scheme, and the address if the URL has one.
 * @throws TargetRefused
 */
export function checkTarget(url: URL, rules: AddressRules): void {
  const isPlain = url.protocol === 'http:' && mayUsePlainHttp(url.hostname, rules);
  if (url.protocol !== 'https:' && !isPlain) throw new TargetRefused('url_refused', 'only https is allowed');
  if (!mayNameHost(url.hostname, rules)) throw new TargetRefused('address_refused', 'the address is not public');
}
