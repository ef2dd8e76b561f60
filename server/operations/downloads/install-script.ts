import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILT } from '../../built.ts';
import { shellWord } from '../../platform/core/shell-word.ts';
import type { AgentRelease } from './types.ts';

const TEMPLATE = readFileSync(new URL('install-agent.sh', import.meta.url), 'utf8');
const UNIT = path.join(BUILT, '..', 'systemd', 'signalbox-agent.service');

/**
 * A shell script that installs this agent as a systemd service and connects it to this control plane. Its address and the SHA-256 of the
 * file are in it, so that whoever trusts the script needs to trust nothing else.
 */
export function installScript({ release, publicUrl }: { release: Pick<AgentRelease, 'version' | 'sha256'>; publicUrl: string }): string {
  const unit = readFileSync(UNIT, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
  const values: Record<string, string> = {
    __SERVER__: shellWord(publicUrl),
    __VERSION__: release.version,
    __SHA256__: release.sha256,
    __UNIT__: unit.trimEnd(),
  };
  return TEMPLATE.replaceAll(/__[A-Z0-9]+__/g, (name) => values[name] ?? name);
}
