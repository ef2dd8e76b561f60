import type { TerminalLevel } from '../../../protocol/index.ts';
import { type Deadline, toError } from '../../core/deadline.ts';
import { allowsTerminal } from '../../core/terminal-level.ts';
import { readPoliciesOf } from '../../core/user-policies.ts';
import type { RunCommand, UserPolicies } from '../../core/user-policies.ts';
import { openTerminalSsh, terminalLevelsOf } from '../open-sessions.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { Finding } from './types.ts';

/** What the user of a terminal to look at things should not have, and what it then may do. */
const MORE_THAN_LOOKING: Readonly<Record<string, string>> = {
  write: 'change the configuration',
  policy: 'manage users',
  password: 'change its password',
  reboot: 'reboot the router',
  ftp: 'write files',
  sensitive: 'see passwords and keys',
};

const WINDOW = { cols: 80, rows: 24 };

export interface TerminalCheck {
  config: RouterAccess;
  /** Reads what the users may do, as the agent's own user; undefined without a session. */
  run: RunCommand | undefined;
  /** `terminal` of agent.yaml. */
  allowed: 'off' | TerminalLevel;
  /** Folder with the known host keys. */
  stateFolder: string;
  deadline: Deadline;
}

/** Terminals are on, and this router has no user for any level that may be opened. */
export function findsNoUser({ config, allowed }: Pick<TerminalCheck, 'config' | 'allowed'>): Finding | undefined {
  if (allowed === 'off' || terminalLevelsOf(config).some((level) => allowsTerminal(allowed, level))) return undefined;
  return {
    ok: true,
    warning: true,
    detail: `terminal is ${allowed} in agent.yaml, but this router has no user for it: nobody can open one`,
  };
}

/** Opens a shell as the user of a level and leaves it, then reads what this user may do. @throws AgentError */
export async function tryTerminal(level: TerminalLevel, { config, run, allowed, stateFolder, deadline }: TerminalCheck): Promise<Finding> {
  const session = await openTerminalSsh(config, level, stateFolder, deadline);
  try {
    (await session.openShell(WINDOW, deadline)).destroy();
  } finally {
    await session.close();
  }
  const username = config.terminal?.[level]?.username ?? '';
  const notOffered = allowsTerminal(allowed, level) ? [] : [`not offered: terminal is ${allowed} in agent.yaml`];
  const may = await rightsOf(username, run, deadline);
  if (typeof may === 'string') return { ok: true, warning: true, detail: [`a shell as ${username}`, may, ...notOffered].join('; ') };
  const rights = judge(level, may.policies);
  const parts = [
    `a shell as ${username}`,
    `which may ${[...may.policies].join(', ')} (group ${may.group})`,
    ...(rights === undefined ? [] : [rights]),
    ...notOffered,
  ];
  return { ok: true, ...(rights === undefined ? {} : { warning: true }), detail: parts.join('; ') };
}

/** What the user may do, or a text that says why nobody knows and what that means. Reading needs rights of the agent's own user. */
async function rightsOf(username: string, run: RunCommand | undefined, deadline: Deadline): Promise<UserPolicies | string> {
  const meaning = 'terminals open all the same, and nothing warns if this user may do more than its level says';
  if (run === undefined) return `what it may do was not read, because the agent's own login failed; ${meaning}`;
  try {
    return (
      (await readPoliciesOf(run, username, deadline)) ??
      `the router does not list this user in /user to the agent, as with RADIUS, so what it may do is not known; ${meaning}`
    );
  } catch (error) {
    return `what it may do could not be read as the agent's own user: ${toError(error).message}; ${meaning}`;
  }
}

/** What is odd about these rights; undefined when nothing is. */
function judge(level: TerminalLevel, policies: ReadonlySet<string>): string | undefined {
  if (level === 'full') return policies.has('write') ? undefined : 'it cannot change anything: it has no policy write';
  const more = Object.entries(MORE_THAN_LOOKING).flatMap(([policy, what]) => (policies.has(policy) ? [what] : []));
  return more.length === 0 ? undefined : `more than looking: it may ${more.join(', ')}`;
}
