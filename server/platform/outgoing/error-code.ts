import { TargetRefused } from './target.ts';

/** Why an attempt got no HTTP answer. */
export const CONNECTION_ERRORS = [
  'timed_out',
  'url_refused',
  'address_refused',
  'name_not_found',
  'connect_failed',
  'tls_failed',
  'connection_lost',
  'answer_invalid',
] as const;
export type ConnectionError = (typeof CONNECTION_ERRORS)[number];

const BY_CODE: Record<string, ConnectionError> = {
  ERR_INVALID_URL: 'url_refused',
  ENOTFOUND: 'name_not_found',
  ECONNREFUSED: 'connect_failed',
  EHOSTUNREACH: 'connect_failed',
  ENETUNREACH: 'connect_failed',
  EADDRNOTAVAIL: 'connect_failed',
  EACCES: 'connect_failed',
  ETIMEDOUT: 'timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'timed_out',
  UND_ERR_HEADERS_TIMEOUT: 'timed_out',
  UND_ERR_BODY_TIMEOUT: 'timed_out',
  UND_ERR_HEADERS_OVERFLOW: 'answer_invalid',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'answer_invalid',
};

/** OpenSSL's verification codes have many prefixes; all of them concern certificates. */
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|EPROTO$|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** The error code of a missing answer. It helps the receiver's owner and reveals nothing about this network. */
export function errorCodeOf(error: unknown): ConnectionError {
  if (error instanceof TargetRefused) return error.word;
  if (!(error instanceof Error)) return 'connection_lost';
  if (error.name === 'TimeoutError') return 'timed_out';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // An error of undici, which has no code for some non-HTTP answers.
  if (error.name === 'HTTPParserError') return 'answer_invalid';
  if (TLS_CODE.test(code)) return 'tls_failed';
  return BY_CODE[code] ?? 'connection_lost';
}
