import type { AttemptError } from '../types.ts';
import { TargetRefused } from './target.ts';

const BY_CODE: Record<string, AttemptError> = {
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

/** Codes of OpenSSL's verification have many beginnings; all of them speak of certificates. */
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|EPROTO$|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** The word for why no answer came. It says what its owner can act on and nothing about the network here. */
export function failureWord(error: unknown): AttemptError {
  if (error instanceof TargetRefused) return error.word;
  if (!(error instanceof Error)) return 'connection_lost';
  if (error.name === 'TimeoutError') return 'timed_out';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Of undici; its code is missing for some of what is no HTTP.
  if (error.name === 'HTTPParserError') return 'answer_invalid';
  if (TLS_CODE.test(code)) return 'tls_failed';
  return BY_CODE[code] ?? 'connection_lost';
}
