import { toError } from '../core/deadline.ts';
import { errorCode } from '../core/file-errors.ts';

/** TLS error codes for a certificate from an unknown authority. */
const NO_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/**
 * Why the control plane could not be reached. A host with several addresses fails with an AggregateError whose own
 * message is empty: its parts are named.
 * @param caSetting the setting that names the file of an authority
 */
export function describeConnectionError(error: unknown, caSetting = 'server_ca in agent.yaml'): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map((part) => describeConnectionError(part, caSetting)))].join('; ');
  }
  const code = errorCode(error);
  // Node's own message recommends a Node switch, which cannot be set for a bundle or a container.
  if (code !== undefined && NO_AUTHORITY.has(code)) {
    return `its certificate is not from a known authority: name the file of its CA with ${caSetting} (${code})`;
  }
  return toError(error).message || (code ?? 'no reason given');
}

/** Why a tunnel ended, by its close code. 1005 and 1006 mean that no close code was received. */
export function describeClose(code: number): string {
  return code === 1005 || code === 1006 ? 'the connection broke' : `the control plane closed the connection (${code})`;
}
