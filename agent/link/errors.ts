/** Why a connection to the control plane failed. */
export type LinkErrorCode =
  /** The credential is not accepted: an administrator must act. */
  | 'unauthorized'
  /** The server answered, but did not open a tunnel. */
  | 'refused'
  /** No connection: name, network or TLS. */
  | 'unreachable'
  | 'timeout'
  | 'cancelled';

export class LinkError extends Error {
  readonly code: LinkErrorCode;

  constructor(code: LinkErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LinkError';
    this.code = code;
  }
}
