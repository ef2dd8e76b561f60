import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILT } from '../../built.ts';
import { SERVER_VERSION } from '../../version.ts';
import type { AgentRelease } from './types.ts';

export const AGENT_FILE = 'signalbox-agent.cjs';

/**
 * What `npm run build:agent` wrote.
 * @returns null without a build, and for one of another version: nobody shall install an agent that is older than this control plane says
 */
export function readAgentRelease(folder = BUILT): AgentRelease | null {
  try {
    const { version } = JSON.parse(readFileSync(path.join(folder, 'signalbox-agent.json'), 'utf8')) as { version: unknown };
    if (version !== SERVER_VERSION) return null;
    const file = readFileSync(path.join(folder, AGENT_FILE));
    return { version: SERVER_VERSION, sha256: createHash('sha256').update(file).digest('hex'), bytes: file.length, file };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
