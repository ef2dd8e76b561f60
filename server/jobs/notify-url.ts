import { isIP } from 'node:net';

export interface NotifyUrlRules {
  /** Lets `http` URLs of this very machine through: for development. */
  allowLoopbackHttp: boolean;
}

/** INTERFACE.md names no limit; longer ones do not fit the usual servers. */
export const MAX_NOTIFY_URL_CHARS = 2048;

/** Why the URL cannot receive updates, or undefined. Where its name leads to is checked at every connect instead. */
export function whyNotNotify(text: string, rules: NotifyUrlRules): string | undefined {
  if (text.length > MAX_NOTIFY_URL_CHARS) return `must have at most ${MAX_NOTIFY_URL_CHARS} characters`;
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or a password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:' && rules.allowLoopbackHttp && isLoopback(url.hostname)) return undefined;
  return 'must be an https URL';
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}
