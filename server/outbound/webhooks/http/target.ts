import { isLoopbackHost, mayNameHost } from '../../../platform/core/public-address.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import type { AttemptError } from '../types.ts';

/** Where updates may go. Pure; what is judged here is what is connected to, not what a name meant a moment before. */

/** A target that must not be reached. */
export class TargetRefused extends Error {
  readonly word: AttemptError;

  constructor(word: 'url_refused' | 'address_refused', message: string) {
    super(message);
    this.name = 'TargetRefused';
    this.word = word;
  }
}

/**
 * Checks what can be known before any look-up: scheme, and the address where the URL has one.
 * @throws TargetRefused
 */
export function checkTarget(url: URL, rules: AddressRules): void {
  const isPlainLoopback = url.protocol === 'http:' && rules.allowLoopback && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isPlainLoopback) throw new TargetRefused('url_refused', 'only https is allowed');
  if (!mayNameHost(url.hostname, rules)) throw new TargetRefused('address_refused', 'the address is not a public one');
}
