import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../../agent/config.ts';
import { commandOf, configOf, newPassword, userLines } from '../../../console/src/pages/settings/first/commands.ts';
import { followedToken } from '../../../console/src/pages/settings/first/followed-token.ts';
import type { Place } from '../../../console/src/pages/settings/first/commands.ts';

describe('the token by which an agent comes', () => {
  const token = (id: string, minute: number, usedMinute?: number) => ({
    id,
    created_at: `2031-05-01T08:0${minute}:00.000Z`,
    status: usedMinute === undefined ? ('open' as const) : ('used' as const),
    used_at: usedMinute === undefined ? null : `2031-05-01T08:0${usedMinute}:00.000Z`,
  });

  it('is that of the page, while nobody has come with a later one', () => {
    const tokens = [token('later', 3), token('own', 2), token('earlier', 1, 4)];
    expect(followedToken(tokens, 'own')?.id).toBe('own');
    expect(followedToken([token('later', 3, 4), token('own', 2, 5)], 'own')?.id).toBe('own');
  });

  it('is the one that the command line made for a container on RouterOS', () => {
    expect(followedToken([token('second', 4, 6), token('cli', 3, 5), token('own', 2)], 'own')?.id).toBe('cli');
  });
});

const agent = { server: 'https://signalbox.example.net', token: 'sbe_abc', name: "Riga's $(reboot)", team: 'A & B', hasRelease: true };

describe('lines to copy', () => {
  it.each<Place>(['linux', 'docker', 'routeros'])('are read by a shell without a fault (%s)', (place) => {
    execFileSync('sh', ['-n', '-c', commandOf(place, agent)]);
  });

  it('give a name to the program as it is, whatever it holds', () => {
    const last = commandOf('linux', agent).split('\n').at(-1)!.replace('sudo sh install.sh', 'printf "%s|"');
    expect(execFileSync('sh', ['-c', last], { encoding: 'utf8' })).toBe(`--token|sbe_abc|--name|${agent.name}|`);
  });

  it('give a name to an agent in Compose by its configuration, which the agent can read', () => {
    const config = parseConfig(parse(configOf('docker', agent)), '/agent');
    expect(config).toMatchObject({ name: agent.name, enrol_token_file: '/agent/enrol-token.txt', routers: [{ name: 'edge-1' }] });
    // The script gives it where there is one; nobody has given it yet at first.
    expect(parseConfig(parse(configOf('linux', agent)), '/agent').name).toBeUndefined();
    expect(parseConfig(parse(configOf('docker', { ...agent, name: undefined })), '/agent').name).toBeUndefined();
  });

  it('make a user with a password that nobody else knows', () => {
    const [one, other] = [newPassword(), newPassword()];
    expect(one).toMatch(/^[a-z2-9]{24}$/);
    expect(other).not.toBe(one);
    expect(userLines(one)).toContain(`/user/add name=signalbox group=signalbox password="${one}"`);
    const needed = /policies `([a-z,]+)`/.exec(readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8'))![1]!;
    expect(userLines(one)).toContain(`policy=${needed}\n`);
  });

  it('do not name a script that the control plane does not have', () => {
    expect(commandOf('linux', { ...agent, hasRelease: false })).not.toContain('install.sh');
  });
});
