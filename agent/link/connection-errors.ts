import { toError } from '../core/deadline.ts';
import { errorCode } from '../core/file-errors.ts';

/** Codes of TLS for a certificate that leads to no authority known here. */
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
 * @param caSetting where this agent is told of an authority
 */
export function describeConnectionError(error: unknown, caSetting = 'server_ca in agent.yaml'): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map((part) => describeConnectionError(part, caSetting)))].join('; ');
  }
  const code = errorCode(error);
  // Node's own words name a switch of Node, which nobody can set who has a file or a container to start.
  if (code !== undefined && NO_AUTHORITY.has(code)) {
    return `its certificate is not from a known authority: name the file of its CA with ${caSetting} (${code})`;
  }
  return toError(error).message || (code ?? 'no reason given');
}

/** Why a tunnel ended that the other side closed: by the close code, which 1005 and 1006 stand for where none came. */
export function describeClose(code: number): string {
  return code === 1005 || code === 1006 ? 'the connection broke' : `the control plane closed the connection (${code})`;
}
