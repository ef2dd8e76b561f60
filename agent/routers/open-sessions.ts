import { readFile } from 'node:fs/promises';
import { TERMINAL_LEVELS } from '../../protocol/index.ts';
import type { TerminalLevel } from '../../protocol/index.ts';
import type { Deadline } from '../core/deadline.ts';
import { toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import { connectRouterOsApi, type RouterOsApi } from './routeros-api/index.ts';
import { connectSsh, hostKeyFile, type SshSession } from './ssh/index.ts';

const DEFAULT_SSH_PORT = 22;

/** The part of a router's configuration for its sessions (agent/config.ts, `routers[]`). */
export interface RouterAccess {
  name: string;
  host: string;
  api?: ApiAccess | undefined;
  ssh?: SshAccess | undefined;
  terminal?: TerminalAccess | undefined;
}

interface Secret {
  username: string;
  password?: string | undefined;
  password_file?: string | undefined;
}

interface ApiAccess extends Secret {
  port?: number | undefined;
  tls: boolean;
  ca?: string | undefined;
  fingerprint?: string | undefined;
  anonymous_tls: boolean;
}

interface SshAccess extends Secret {
  port: number;
  private_key_file?: string | undefined;
  host_key?: string | undefined;
}

/** One user for each level of terminals. */
interface TerminalAccess {
  port?: number | undefined;
  read?: TerminalUser | undefined;
  full?: TerminalUser | undefined;
}

interface TerminalUser extends Secret {
  private_key_file?: string | undefined;
}

/** Files are read at each connection, so that a rotated password needs no restart. @throws AgentError */
async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AgentError('router_unreachable', `${file}: ${toError(error).message}`, { cause: error, reason: 'credentials' });
  }
}

/** Removes the line end that editors and `echo` add to the file. */
async function readPassword({ password, password_file: file }: Secret): Promise<string | undefined> {
  return file === undefined ? password : (await readText(file)).replace(/\r?\n$/, '');
}

/** @throws AgentError `router_unreachable`, `invalid` when api is not configured */
export async function openApi({ host, api }: RouterAccess, deadline: Deadline): Promise<RouterOsApi> {
  if (!api) throw new AgentError('unsupported', 'no api is configured for this router');
  // A configured CA or fingerprint implies TLS, even without `tls`.
  const useTls = api.tls || api.anonymous_tls || api.ca !== undefined || api.fingerprint !== undefined;
  const trust = {
    ca: api.ca === undefined ? undefined : await readText(api.ca),
    fingerprint: api.fingerprint,
    anonymous: api.anonymous_tls,
  };
  return connectRouterOsApi({
    host,
    port: api.port,
    username: api.username,
    password: (await readPassword(api)) ?? '',
    deadline,
    ...(useTls ? { tls: trust } : {}),
  });
}

/** Levels of terminals for which this router has a user. */
export function terminalLevelsOf({ terminal }: Pick<RouterAccess, 'terminal'>): TerminalLevel[] {
  return TERMINAL_LEVELS.filter((level) => terminal?.[level] !== undefined);
}

/** Logs in with the user of a level. @throws AgentError `router_unreachable`, `unsupported` without such a user */
export async function openTerminalSsh(
  { name, host, ssh, terminal }: RouterAccess,
  level: TerminalLevel,
  stateFolder: string,
  deadline: Deadline,
): Promise<SshSession> {
  const user = terminal?.[level];
  if (!user) throw new AgentError('unsupported', `no user for the level ${level} is configured`, { terminal: 'terminal_no_user' });
  const access = { ...user, port: terminal.port ?? ssh?.port ?? DEFAULT_SSH_PORT, host_key: ssh?.host_key };
  return openSsh({ name, host, ssh: access }, stateFolder, deadline);
}

/** @throws AgentError `router_unreachable`, `unsupported` when ssh is not configured */
export async function openSsh({ name, host, ssh }: RouterAccess, stateFolder: string, deadline: Deadline): Promise<SshSession> {
  if (!ssh) throw new AgentError('unsupported', 'no ssh is configured for this router');
  return connectSsh({
    host,
    port: ssh.port,
    username: ssh.username,
    password: await readPassword(ssh),
    privateKey: ssh.private_key_file === undefined ? undefined : await readText(ssh.private_key_file),
    hostKey: ssh.host_key === undefined ? hostKeyFile(stateFolder, name) : { fingerprint: ssh.host_key },
    deadline,
  });
}
