import type { IncomingMessage } from 'node:http';
import { LinkError } from './errors.ts';

/** What an ordinary HTTP answer means where an upgrade was asked for. */
export function refusal(response: IncomingMessage): LinkError {
  const status = response.statusCode ?? 0;
  response.resume();
  if (status === 401) return new LinkError('unauthorized', 'the control plane does not accept the credential');
  return new LinkError('refused', `the control plane answered ${status} instead of a tunnel`);
}
