import { isLoopbackHost, mayNameHost } from '../../platform/core/public-address.ts';
import type { AddressRules } from '../../platform/core/public-address.ts';

/** Common servers refuse a request line that is longer. */
export const MAX_NOTIFY_URL_CHARS = 2048;

/**
 * Why the URL cannot receive updates, or undefined when it can. The addresses behind its name are checked at every
 * connect instead, because they may change.
 */
export function notifyUrlProblem(text: string, rules: AddressRules): string | undefined {
  if (text.length > MAX_NOTIFY_URL_CHARS) return `must have at most ${MAX_NOTIFY_URL_CHARS} characters`;
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or a password';
  const isPlainLoopback = url.protocol === 'http:' && rules.allowLoopback && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isPlainLoopback) return 'must be an https URL';
  return mayNameHost(url.hostname, rules) ? undefined : `must lead to a public address, which ${url.hostname} is not`;
}
