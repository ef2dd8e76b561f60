import type { RouterReason } from '../../../protocol/index.ts';
import { createHash } from 'node:crypto';
import type { Deadline } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import type { CommandReply } from '../adapter.ts';

export interface Credentials {
  username: string;
  password: string;
}

type Ask = (words: string[], deadline: Deadline) => Promise<CommandReply>;

/**
 * The response to the challenge of a router before 6.43: `00` and the MD5 hash of a zero byte, the password and the challenge.
 * Guard: it hashes the password in UTF-8; the library hashes it in windows-1252.
 */
export function md5Response(password: string, challengeHex: string): string {
  const challenge = Buffer.from(challengeHex, 'hex');
  const hash = createHash('md5').update(Buffer.of(0)).update(password, 'utf8').update(challenge);
  return `00${hash.digest('hex')}`;
}

/**
 * Logs in with name and password, and answers the challenge of an old router.
 * @param whyLost why there was no answer to the login
 * @throws AgentError `router_unreachable`; its cause is the router's refusal where it gave one
 */
export async function login(ask: Ask, credentials: Credentials, deadline: Deadline, whyLost: () => RouterReason): Promise<void> {
  const { username, password } = credentials;
  try {
    const { ret } = await ask(['/login', `=name=${username}`, `=password=${password}`], deadline);
    if (ret !== undefined) await ask(['/login', `=name=${username}`, `=response=${md5Response(password, ret)}`], deadline);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const reason = error.code === 'rejected' ? 'login_refused' : whyLost();
    throw new AgentError('router_unreachable', `${whatFailed(reason)}: ${error.message}`, { cause: error, reason });
  }
}

/** People read "login failed" as a wrong password: silence is told as silence. */
function whatFailed(reason: RouterReason): string {
  if (reason === 'login_refused') return 'login refused';
  return reason === 'timeout' ? 'the router did not answer the login' : 'login failed';
}
