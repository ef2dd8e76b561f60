import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../../agent/config.ts';
import {
  commandOf,
  configOf,
  newPassword,
  passwordLines,
  startLines,
  titleOf,
  userLines,
} from '../../../console/src/pages/settings/first/commands.ts';
import { followedToken } from '../../../console/src/pages/settings/first/followed-token.ts';
import { isLoopback } from '../../../console/src/parts/loopback.ts';
import type { Place } from '../../../console/src/pages/settings/first/commands.ts';

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['192.168.1.10', false],
  ['127.example.net', false],
])('only the machine itself reaches %s: %s', (hostname, is) => {
  expect(isLoopback(hostname)).toBe(is);
});

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
  it.each<Place>(['linux', 'docker', 'hand', 'routeros'])('are read by a shell without a fault (%s)', (place) => {
    execFileSync('sh', ['-n', '-c', commandOf(place, agent)]);
  });

  it('give a name to the program as it is, whatever it holds', () => {
    const last = commandOf('linux', agent).split('\n').at(-1)!.replace('sudo sh install.sh', 'printf "%s|"');
    expect(execFileSync('sh', ['-c', last], { encoding: 'utf8' })).toBe(`--token|sbe_abc|--name|${agent.name}|`);
  });

  it.each([
    ['oslo dc/1', 'oslo-dc-1.rsc'],
    ['../x', 'x.rsc'],
    ['-v', 'v.rsc'],
    ['Ålesund', 'lesund.rsc'],
    ['北', 'agent.rsc'],
    ['riga-dc-1', 'riga-dc-1.rsc'],
  ])('put the lines for the router %s into the file %s', (name, file) => {
    expect(commandOf('routeros', { ...agent, name }).split(' > ')[1]).toBe(file);
  });

  it('give a name to an agent in Compose by its configuration, which the agent can read', () => {
    const config = parseConfig(parse(configOf('docker', agent)), '/agent');
    expect(config).toMatchObject({
      name: agent.name,
      enrol_token_file: '/agent/enrol-token.txt',
      routers: [{ name: 'edge-1' }, { name: 'edge-2' }],
    });
    // A command gives it where there is one; nobody has given it yet at first.
    expect(parseConfig(parse(configOf('linux', { ...agent, hasRelease: false })), '/agent').name).toBeUndefined();
    expect(parseConfig(parse(configOf('docker', { ...agent, name: undefined })), '/agent').name).toBeUndefined();
  });

  it('add a router to what the script has written, and change nothing of it', () => {
    const written = [
      "server: 'https://signalbox.example.net'",
      'credentials: /var/lib/signalbox-agent/credentials.json',
      'state: /var/lib/signalbox-agent',
      'routers:',
      "  - name: '192.168.88.1'",
      "    host: '192.168.88.1'",
      "    ssh: { port: 22, username: 'signalbox', password_file: router-1.password }",
    ].join('\n');
    expect(titleOf('linux', true)).toBe('# at the end of /etc/signalbox/agent.yaml');
    expect(parseConfig(parse(`${written}\n${configOf('linux', agent)}\n`), '/etc/signalbox')).toEqual({
      ...parseConfig(parse(written), '/etc/signalbox'),
      routers: [
        expect.objectContaining({ name: '192.168.88.1' }),
        expect.objectContaining({ name: 'edge-2', ssh: expect.objectContaining({ password_file: '/etc/signalbox/router-1.password' }) }),
        expect.objectContaining({ name: 'edge-3', ssh: expect.objectContaining({ password_file: '/etc/signalbox/router-1.password' }) }),
      ],
    });
  });

  it.each<[Place, boolean]>([
    ['linux', true],
    ['linux', false],
    ['docker', true],
    ['hand', true],
  ])('make the password file that agent.yaml names (%s, with a script: %s)', (place, hasRelease) => {
    const files = [...configOf(place, { ...agent, hasRelease }).matchAll(/password_file: (\S+)/g)].map(([, file]) => file!);
    // The same lines on both routers: one password, one file.
    expect(files).toEqual([files[0], files[0]]);
    // The script has made the shared one; the lines make one for a router with another password.
    const named = place === 'linux' && hasRelease ? 'edge-2.password' : files[0]!;
    const folder = place === 'linux' && hasRelease ? '/etc/signalbox' : 'agent';
    const made = passwordLines(place, hasRelease);
    expect(made).toMatch(folder === 'agent' && place !== 'docker' ? /^install -m 600 \S/ : /install -m 600 -o \S/);
    expect(made.split(`${folder}/${named}`)).toHaveLength(3);
    execFileSync('sh', ['-n', '-c', made]);
  });

  it('make a user with a password that nobody else knows', () => {
    const [one, other] = [newPassword(), newPassword()];
    expect(one).toMatch(/^[a-z2-9]{24}$/);
    expect(other).not.toBe(one);
    expect(userLines(one)).toContain(`/user/add name=signalbox group=signalbox password="${one}"`);
    const needed = /policies `([a-z,]+)`/.exec(readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8'))![1]!;
    expect(userLines(one)).toContain(`policy=${needed}\n`);
  });

  it('by hand need no root, and end with what starts the agent in the folder of its files', () => {
    const config = parseConfig(parse(configOf('hand', agent)), '/home/ada/agent');
    expect(config).toMatchObject({ credentials: '/home/ada/agent/credentials.json', state: '/home/ada/agent/state' });
    expect(commandOf('hand', agent)).toContain('--credentials agent/credentials.json');
    const all = [commandOf('hand', agent), passwordLines('hand', true), startLines('hand', true)].join('\n');
    expect(all).not.toContain('sudo');
    expect(all).toMatch(/check --config agent\/agent\.yaml\nnode signalbox-agent\.cjs run --config agent\/agent\.yaml$/);
    expect(titleOf('hand', true)).toBe('# agent/agent.yaml');
  });

  it('start the agent after its files are there, and not before (Compose)', () => {
    expect(startLines('docker', true)).toBe('docker compose up -d');
    expect(commandOf('docker', agent)).not.toContain('docker compose');
    expect(startLines('linux', true)).toBeUndefined();
    expect(startLines('linux', false)).toBe(startLines('hand', false));
  });

  it('do not name a script that the control plane does not have', () => {
    expect(commandOf('linux', { ...agent, hasRelease: false })).not.toContain('install.sh');
  });
});
