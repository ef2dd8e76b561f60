import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stateUnwritable } from '../core/file-errors.ts';

/** Prefix, with the agent's tag, of everything that the agent writes on a router, so that agents do not touch each other's items. */
const PREFIX = 'signalbox';

/**
 * The tag of this agent, created once and stored in its state folder: `signalbox-1f2e3d4c`.
 * @throws AgentError `internal` when it cannot be stored
 */
export async function readAgentTag(stateFolder: string): Promise<string> {
  const file = path.join(stateFolder, 'forward-tag');
  try {
    const known = (await readFile(file, 'utf8')).trim();
    if (/^[0-9a-f]{8}$/.test(known)) return `${PREFIX}-${known}`;
  } catch {
    // The first start.
  }
  const tag = randomBytes(4).toString('hex');
  try {
    await mkdir(stateFolder, { recursive: true, mode: 0o700 });
    await writeFile(file, `${tag}\n`, { mode: 0o600, flush: true });
  } catch (error) {
    throw stateUnwritable(error);
  }
  return `${PREFIX}-${tag}`;
}

/** Comment of a forward's rules and name of its scheduler entry. */
export function markOf(agentTag: string, forwardId: string): string {
  return `${agentTag}-${forwardId}`;
}

/**
 * Name of the fail-safe that restores `/ip/ssh forwarding-enabled`. Its prefix differs from the marks of forwards, because the search
 * for leftovers removes those.
 */
export function sshForwardingMark(agentTag: string): string {
  return `${PREFIX}-ssh-${agentTag.slice(PREFIX.length + 1)}`;
}
