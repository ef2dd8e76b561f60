import { quoteAscii } from '../../routeros-text/quote.ts';
import type { ApiCommand, CommandReply, Deadline } from '../routers/adapter.ts';

/**
 * Policies that an undo guard needs, for the user who arms it and for its scheduler entry: it saves and loads a backup, and the load reboots.
 * The router refuses an entry with a policy that its user lacks.
 */
export const GUARD_POLICIES: readonly string[] = ['ftp', 'reboot', 'read', 'write', 'policy', 'test', 'password', 'sensitive'];

/** What somebody may do on a router. */
export interface UserPolicies {
  group: string;
  policies: ReadonlySet<string>;
}

/** Runs an API command in whatever session there is. */
export type RunCommand = (command: ApiCommand, deadline: Deadline) => Promise<CommandReply>;

/** `read,write,!ftp` (API) or `read;write;!ftp` (console) as a set of what is granted. */
export function parsePolicies(list: string): ReadonlySet<string> {
  return new Set(list.split(/[,;]/).filter((name) => name !== '' && !name.startsWith('!')));
}

/** Reads the group of a user and its policies. @returns undefined when the router does not list them @throws AgentError */
export async function readPoliciesOf(run: RunCommand, username: string, deadline: Deadline): Promise<UserPolicies | undefined> {
  const user = await run({ path: '/user/print', words: [`?name=${username}`, '=.proplist=group'] }, deadline);
  const group = user.rows[0]?.['group'];
  if (group === undefined) return undefined;
  const { rows } = await run({ path: '/user/group/print', words: [`?name=${group}`, '=.proplist=policy'] }, deadline);
  const policy = rows[0]?.['policy'];
  return policy === undefined ? undefined : { group, policies: parsePolicies(policy) };
}

/** The line for a terminal of the router that grants what is missing. It names all, because `set` replaces the list. */
export function grantLine({ group, policies }: UserPolicies, missing: readonly string[]): string {
  return `/user/group/set ${consoleWord(group)} policy=${[...new Set([...policies, ...missing])].join(',')}`;
}

function consoleWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : quoteAscii(text);
}
