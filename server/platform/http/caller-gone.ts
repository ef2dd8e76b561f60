import type { ServerResponse } from 'node:http';

/** Aborts when the connection is closed before the request has been answered. */
export function callerGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
