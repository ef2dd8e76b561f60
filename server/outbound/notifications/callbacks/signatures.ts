import { createHmac, timingSafeEqual } from 'node:crypto';

/** How providers sign their callbacks. Pure. */

/**
 * HMAC-SHA1 over the address and then each parameter, name and value, in the order of the names; in base64
 * (twilio.com/docs/usage/security#validating-requests). Twilio's own libraries take each value of a name that comes several times once.
 * @param key the account's token
 * @param url the whole address as the provider was given it, with the query
 */
export function twilioSignature(key: string, url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].toSorted((one, other) => (one < other ? -1 : 1));
  const parameters = names.flatMap((name) => [...new Set(form.getAll(name))].toSorted().map((value) => `${name}${value}`));
  return createHmac('sha1', key)
    .update(`${url}${parameters.join('')}`)
    .digest('base64');
}

/** @param url as {@link twilioSignature} has it. Twilio signs it with its port or without, so its libraries try both */
export function isSignedByTwilio(signature: string, key: string, url: string, form: URLSearchParams): boolean {
  return addressesOf(url).some((address) => isSame(signature, twilioSignature(key, address, form)));
}

/** Without a port, and with the one that it has or that its protocol implies. */
function addressesOf(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [];
  const { protocol, hostname, port, pathname, search } = parsed;
  const implied = protocol === 'https:' ? '443' : '80';
  return ['', `:${port === '' ? implied : port}`].map((part) => `${protocol}//${hostname}${part}${pathname}${search}`);
}

/**
 * `sha256=` and the HMAC-SHA256 of the body as it came, in hex
 * (developers.facebook.com/docs/graph-api/webhooks/getting-started#validate-payloads).
 * @param key the app's secret
 */
export function metaSignature(key: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
}

export function isSignedByMeta(signature: string, key: string, body: Buffer): boolean {
  return isSame(signature, metaSignature(key, body));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
