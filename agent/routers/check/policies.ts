import { randomBytes } from 'node:crypto';
import { grantLine, readPoliciesOf } from '../../core/user-policies.ts';
import type { RunCommand, UserPolicies } from '../../core/user-policies.ts';
import type { ApiCommand, CommandReply, Deadline } from '../adapter.ts';
import { toConsole } from '../console-commands.ts';
import type { SshSession } from '../ssh/index.ts';
import type { Check, CheckContext, Finding } from './types.ts';

/** Policies that the agent's user needs, and what does not work without them. */
const NEEDED: Readonly<Record<string, string>> = {
  read: 'no inventory, no commands, no jobs',
  write: 'no jobs, no forwards, only commands that print',
  api: 'no commands and no jobs',
  ssh: 'no forwards by ssh, no consoles before 7.8',
  ftp: 'files cannot be read over SFTP: no backups before jobs',
  sensitive: 'backups cannot be saved or read, exports have no secrets',
};

/**
 * What else does not work without a policy that only undo guards need (`GUARD_POLICIES`). Scripts that touch an interface, an address, a route,
 * a firewall or a user arm one by themselves, unless they say otherwise.
 */
const FOR_GUARDS: Readonly<Record<string, string>> = {
  test: 'scripts that ping, trace or fetch fail',
  policy: 'scripts that manage users fail',
  password: '',
  reboot: 'scripts that reboot the router fail',
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
      Promise.resolve(isGranted(policies, name) ? GRANTED : { ok: false, detail: `missing: ${grantLine(policies!, [name])}` }),
  })),
  ...Object.entries(FOR_GUARDS).map(([name, costs]) => ({
    what: `policy ${name}`,
    costs: '',
    applies: knowsPolicies,
    run: ({ policies }: CheckContext) => Promise.resolve(isGranted(policies, name) ? GRANTED : unguarded(policies!, name, costs)),
  })),
];

const GRANTED: Finding = { ok: true, detail: 'granted' };

function isGranted(own: UserPolicies | undefined, name: string): boolean {
  return own?.policies.has(name) ?? false;
}

/** All that is missing for a guard in one line: it is what somebody pastes. */
function unguarded(own: UserPolicies, name: string, costs: string): Finding {
  const missing = Object.keys(FOR_GUARDS).filter((policy) => !own.policies.has(policy));
  const without = ['no undo guard: scripts that may lock you out are refused', ...(costs === '' ? [] : [costs])].join('; ');
  return { ok: true, warning: true, detail: `missing: ${grantLine(own, missing)} (${without})` };
}

/** Reads the policies of the agent's own user, over SSH where there is no API. @throws AgentError */
export async function readPolicies(context: CheckContext): Promise<UserPolicies | undefined> {
  const { config, api, deadline } = context;
  const run = runnerOf(context);
  return run && readPoliciesOf(run, (api ? config.api! : config.ssh!).username, deadline);
}

/** Runs commands in the session that there is; undefined without one. */
export function runnerOf({ api, ssh }: Pick<CheckContext, 'api' | 'ssh'>): RunCommand | undefined {
  if (api) return (command, deadline) => api.command(command, deadline);
  return ssh && ((command, deadline) => commandBySsh(ssh, command, deadline));
}

/** The two small tables are a few hundred bytes for each user. */
const TABLE_BYTES = 64 * 1024;

async function commandBySsh(ssh: SshSession, command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
  const { line, read } = toConsole(command, `done-${randomBytes(8).toString('hex')}`);
  return read((await ssh.exec(line, { ...deadline, maxBytes: TABLE_BYTES })).text);
}
