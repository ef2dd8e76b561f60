import { UNMANAGED_PATH, unmanagedResponse } from '../../protocol/index.ts';
import type { UnmanagedRouter } from '../../protocol/index.ts';
import { httpGet } from './http-get.ts';
import type { Credentials } from './credentials.ts';
import { LinkError } from './errors.ts';

/**
 * Which routers of this agent the control plane does not manage through it, and why.
 * @returns undefined when the control plane is older than this request
 * @throws LinkError `unauthorized` when it does not accept the agent, otherwise `refused`
 */
export async function fetchUnmanaged(
  server: string,
  credentials: Credentials,
  ca: string | undefined,
): Promise<UnmanagedRouter[] | undefined> {
  const bearer = `${credentials.agent_id}:${credentials.secret}`;
  const { status, body } = await httpGet({ server, path: UNMANAGED_PATH, ca, bearer });
  if (status === 404) return undefined;
  if (status === 401)
    throw new LinkError(
      'unauthorized',
      'the control plane does not accept these credentials: the agent was revoked, or they are for another control plane',
    );
  if (status !== 200) throw new LinkError('refused', `the control plane answers ${status}`);
  const answer = unmanagedResponse.safeParse(parseJson(body));
  if (!answer.success) throw new LinkError('refused', 'the answer is not that of a control plane');
  return answer.data.routers;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
