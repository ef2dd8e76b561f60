import { invalidField } from '../../../platform/core/errors.ts';
import type { ClientKind } from '../types.ts';

/** Some browsers and proxies truncate longer addresses. */
const LONGEST_URI = 1000;
const LOOPBACK_NAMES = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** RFC 8252, 7.1: a private-use scheme is a reversed domain name, so that no two applications share one. */
const OWN_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

const WITH_A_HOST = /^https?:$/;

/**
 * Checks the addresses to which tokens may be sent. They are later compared character by character, so an address that
 * can be written in two ways is refused.
 * @throws AppError `invalid` naming the first bad address
 */
export function checkRedirectUris(field: string, kind: ClientKind, uris: readonly string[]): string[] {
  for (const uri of uris) {
    const reason = refusalOf(kind, uri);
    if (reason !== undefined) throw invalidField(field, `${JSON.stringify(uri)} ${reason}`);
  }
  return [...new Set(uris)];
}

function refusalOf(kind: ClientKind, uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null || uri.length > LONGEST_URI || !/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\')) return 'is not an absolute address';
  if (uri.includes('*')) return 'must not have a wildcard: register every address separately';
  if (url.href.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (WITH_A_HOST.test(url.protocol) && hasOtherName(uri, url))
    return 'must be written as browsers normalise it: ASCII, lower case, no trailing dot';
  if (/^[^?]*%(?:2e|2f|5c)/i.test(uri)) return 'must not have percent-encoded dots or slashes';
  if (url.protocol === 'https:') return refusalOfHttps(kind, url);
  if (url.protocol === 'http:') return refusalOfHttp(kind, url);
  return kind === 'native' && OWN_SCHEME.test(url.protocol) ? undefined : 'must begin with https://';
}

/** True for a host or path that is not in normal form. Punycode is allowed: people see it unchanged. */
function hasOtherName(uri: string, { protocol, host, hostname }: URL): boolean {
  const written = uri.slice(`${protocol}//`.length).split(/[/?]/, 1)[0]!;
  return written !== host || hostname.endsWith('.') || /\/\.\.?(?:\/|$)/.test(uri.split('?', 1)[0]!);
}

function refusalOfHttps(kind: ClientKind, { hostname }: URL): string | undefined {
  const isLoopback = LOOPBACK_NAMES.has(hostname);
  return isLoopback && (kind === 'implicit' || kind === 'native') ? 'must not be on this machine' : undefined;
}

function refusalOfHttp(kind: ClientKind, { hostname }: URL): string | undefined {
  if (kind === 'implicit') return 'must begin with https://';
  return LOOPBACK_NAMES.has(hostname) ? undefined : 'must begin with https://, except on this machine';
}
