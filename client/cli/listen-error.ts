/** The local port of `--listen` cannot be opened. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'ports below 1024 need root privileges; choose a higher port',
  EAFNOSUPPORT: 'this machine does not support this address family',
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'DNS does not answer',
};

/** @param typed the value of `--listen` */
export function listenError(typed: string, cause: unknown): ListenError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const reason = REASONS[code];
  return new ListenError(`--listen ${typed}: ${reason === undefined ? message : `${reason} (${code})`}`, { cause });
}
