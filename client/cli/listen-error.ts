/** The port of this machine that `--listen` names cannot be had. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program holds this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'ports below 1024 are not for everybody; take a higher one',
  EAFNOSUPPORT: 'this machine does not speak this kind of address',
  ENOTFOUND: 'no address is known by this name',
  EAI_AGAIN: 'the name service does not answer',
};

/** @param place as it was typed */
export function listenError(place: string, cause: unknown): ListenError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const words = WORDS[code];
  return new ListenError(`--listen ${place}: ${words === undefined ? message : `${words} (${code})`}`, { cause });
}
