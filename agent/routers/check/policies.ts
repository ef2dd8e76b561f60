import type { Deadline } from '../../core/deadline.ts';
import type { RouterOsApi } from '../routeros-api/index.ts';
import type { Check, CheckContext } from './types.ts';

/** Policies that the agent's user needs, and what does not work without them. */
const NEEDED: Readonly<Record<string, string>> = {
  read: 'no inventory, no commands, no jobs',
  write: 'no jobs, no forwards, only commands that print',
  api: 'no commands and no jobs',
  ssh: 'no forwards by ssh, no consoles before 7.8',
  ftp: 'files cannot be read over SFTP: no backups before jobs',
  sensitive: 'backups cannot be saved or read, exports have no secrets',
};

/** Optional policies, reported because they limit what a script may do. */
const WELCOME: Readonly<Record<string, string>> = {
  test: 'not needed by the agent; scripts that ping, trace or fetch will fail, and undo guards are refused',
  policy: 'not needed by the agent; scripts that manage users will fail, and undo guards are refused',
  password: 'not needed by the agent; undo guards are refused',
  reboot: 'not needed by the agent; scripts that reboot the router will fail, and undo guards are refused',
};

const knowsPolicies = ({ policies }: CheckContext): boolean => policies !== undefined;

function applies(name: string): Check['applies'] {
  return (context) => {
    if (name === 'api' && !context.config.api) return false;
    if ((name === 'ssh' || name === 'ftp') && !context.config.ssh) return false;
    return knowsPolicies(context);
  };
}

/** One check for each policy, by the list in `/user/group`. */
export const policyChecks: readonly Check[] = [
  ...Object.entries(NEEDED).map(([name, costs]) => ({
    what: `policy ${name}`,
    costs,
    applies: applies(name),
    run: ({ policies }: CheckContext) =>
      Promise.resolve(policies?.has(name) ? { ok: true, detail: 'granted' } : { ok: false, detail: 'missing' }),
  })),
  ...Object.entries(WELCOME).map(([name, remark]) => ({
    what: `policy ${name}`,
    costs: '',
    applies: knowsPolicies,
    run: ({ policies }: CheckContext) => Promise.resolve({ ok: true, detail: policies?.has(name) ? 'granted' : remark }),
  })),
];

/** `read,write,!ftp` as a set of what is granted. */
export function parsePolicies(list: string): ReadonlySet<string> {
  return new Set(list.split(',').filter((name) => name !== '' && !name.startsWith('!')));
}

/** Reads the policies of the agent's own user. @throws AgentError */
export async function readPolicies({ config, api, deadline }: CheckContext): Promise<ReadonlySet<string> | undefined> {
  if (!api || !config.api) return undefined;
  return (await readPoliciesOf(api, config.api.username, deadline))?.policies;
}

/** Reads the group of a user and its policies. @returns undefined when the router does not list them @throws AgentError */
export async function readPoliciesOf(
  api: RouterOsApi,
  username: string,
  deadline: Deadline,
): Promise<{ group: string; policies: ReadonlySet<string> } | undefined> {
  const user = await api.command({ path: '/user/print', words: [`?name=${username}`, '=.proplist=group'] }, deadline);
  const group = user.rows[0]?.['group'];
  if (group === undefined) return undefined;
  const { rows } = await api.command({ path: '/user/group/print', words: [`?name=${group}`, '=.proplist=policy'] }, deadline);
  const policy = rows[0]?.['policy'];
  return policy === undefined ? undefined : { group, policies: parsePolicies(policy) };
}
