import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commandOf } from '../../../console/src/pages/settings/first/commands.ts';
import type { Place } from '../../../console/src/pages/settings/first/commands.ts';

const agent = { server: 'https://signalbox.example.net', token: 'sbe_abc', name: "Riga's $(reboot)", team: 'A & B', hasRelease: true };

describe('lines to copy', () => {
  it.each<Place>(['linux', 'docker', 'routeros'])('are read by a shell without a fault (%s)', (place) => {
    execFileSync('sh', ['-n', '-c', commandOf(place, agent)]);
  });

  it('give a name to the program as it is, whatever it holds', () => {
    const last = commandOf('linux', agent).split('\n').at(-1)!.replace('sudo sh install.sh', 'printf "%s|"');
    expect(execFileSync('sh', ['-c', last], { encoding: 'utf8' })).toBe(`--token|sbe_abc|--name|${agent.name}|`);
  });

  it('do not name a script that the control plane does not have', () => {
    expect(commandOf('linux', { ...agent, hasRelease: false })).not.toContain('install.sh');
  });
});
