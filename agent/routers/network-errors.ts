import type { RouterReason } from '../../protocol/index.ts';

const NO_AUTHORITY = 'the certificate is not from a known authority: set ca or fingerprint';
const NO_HANDSHAKE = 'TLS handshake refused: a router without a certificate in /ip/service offers only anonymous TLS (anonymous_tls)';

/** Explanations of connection error codes, for the person who fixes the configuration. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: is the service enabled on this port?',
  ECONNRESET: 'the router reset the connection',
  EPIPE: 'the router closed the connection',
  ETIMEDOUT: 'no answer to the connection attempt',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  EADDRNOTAVAIL: 'this address cannot be reached from here',
  EACCES: 'connecting is not permitted here',
  EMFILE: 'too many open files in this process',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the name server does not answer',
  DEPTH_ZERO_SELF_SIGNED_CERT: NO_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: NO_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_AUTHORITY,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet: is the clock here right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name: set fingerprint to pin it',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: NO_HANDSHAKE,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': NO_HANDSHAKE,
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the port does not speak TLS',
};

/** What a code means to programs. */
const REASONS: Readonly<Record<string, RouterReason>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ENOTFOUND: 'name_unknown',
  EAI_AGAIN: 'name_unknown',
};

/** What OpenSSL and Node say of a handshake or a certificate. */
const TLS_CODE = /^ERR_(?:SSL|TLS|OSSL)_|CERT|^UNABLE_TO_|_SIGNATURE_/;

function codeOf(error: Error): string | undefined {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Why a router cannot be reached, in one word, for a socket, DNS, TLS or SSH transport error. */
export function reasonOfNetworkError(error: Error): RouterReason {
  if (error instanceof AggregateError) {
    const parts = error.errors.filter((part) => part instanceof Error).map(reasonOfNetworkError);
    return parts.find((reason) => reason !== 'unknown') ?? 'unknown';
  }
  const code = codeOf(error);
  if (code === undefined) return 'unknown';
  return REASONS[code] ?? (TLS_CODE.test(code) ? 'tls' : 'unknown');
}

/**
 * One readable line for a socket, DNS, TLS or SSH transport error, with its code.
 * A host with several addresses fails with an AggregateError whose own message is empty: its parts are named.
 */
export function describeNetworkError(error: Error): string {
  if (error instanceof AggregateError) {
    const parts = error.errors.map((part) => (part instanceof Error ? describeNetworkError(part) : String(part)));
    if (parts.length > 0) return [...new Set(parts)].join('; ');
  }
  const code = codeOf(error);
  const meaning = code === undefined ? undefined : MEANINGS[code];
  if (meaning !== undefined) return `${meaning} (${code})`;
  return error.message || code || error.name;
}
