import type { TerminalLevel } from '../../../protocol/index.ts';
import type { Deadline } from '../../core/deadline.ts';
import { allowsTerminal } from '../../core/terminal-level.ts';
import { openTerminalSsh, terminalLevelsOf } from '../open-sessions.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { RouterOsApi } from '../routeros-api/index.ts';
import { readPoliciesOf } from './policies.ts';
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
  /** Reads what the users may do; undefined without a session. */
  api: RouterOsApi | undefined;
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
export async function tryTerminal(level: TerminalLevel, { config, api, allowed, stateFolder, deadline }: TerminalCheck): Promise<Finding> {
  const session = await openTerminalSsh(config, level, stateFolder, deadline);
  try {
    (await session.openShell(WINDOW, deadline)).destroy();
  } finally {
    await session.close();
  }
  const username = config.terminal?.[level]?.username ?? '';
  // Reading needs rights of the agent's own user, which have rows of their own.
  const may = api && (await readPoliciesOf(api, username, deadline).catch(() => undefined));
  const rights = may ? judge(level, may.policies) : undefined;
  const parts = [
    `a shell as ${username}`,
    may ? `which may ${[...may.policies].join(', ')} (group ${may.group})` : 'what this user may do could not be read',
    ...(rights === undefined ? [] : [rights]),
    ...(allowsTerminal(allowed, level) ? [] : [`not offered: terminal is ${allowed} in agent.yaml`]),
  ];
  return { ok: true, ...(rights === undefined && may ? {} : { warning: true }), detail: parts.join('; ') };
}

/** What is odd about these rights; undefined when nothing is. */
function judge(level: TerminalLevel, policies: ReadonlySet<string>): string | undefined {
  if (level === 'full') return policies.has('write') ? undefined : 'it cannot change anything: it has no policy write';
  const more = Object.entries(MORE_THAN_LOOKING).flatMap(([policy, what]) => (policies.has(policy) ? [what] : []));
  return more.length === 0 ? undefined : `more than looking: it may ${more.join(', ')}`;
}
