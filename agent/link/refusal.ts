import type { IncomingMessage } from 'node:http';
import { LinkError } from './errors.ts';

/** The error for an ordinary HTTP response to an upgrade request. */
export function refusal(response: IncomingMessage): LinkError {
  const status = response.statusCode ?? 0;
  response.resume();
  if (status === 401) return new LinkError('unauthorized', 'the control plane does not accept the credential');
  return new LinkError('refused', `the control plane answered ${status} instead of a tunnel`);
}
