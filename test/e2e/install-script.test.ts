import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configOf, passwordLines } from '../../console/src/pages/settings/first/commands.ts';
import { SERVER_VERSION } from '../../server/version.ts';
import { freePort } from '../harness/installation.ts';
import { OwnMachine, whyNoOwnMachine } from '../harness/own-machine.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** `install.sh` as root: on a machine of its own, whose systemctl records what it is told and starts the unit's program as its user. */

const BUILD = fileURLToPath(new URL('../../scripts/build-agent.ts', import.meta.url));
const missing = whyNoOwnMachine();

describe.skipIf(missing !== undefined)(`install.sh as root${missing === undefined ? '' : ` (${missing})`}`, () => {
  let folder: string;
  let world: World;
  let machine: OwnMachine;
  let bundle: Buffer;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-install-'));
    const file = path.join(folder, 'signalbox-agent.cjs');
    await promisify(execFile)(process.execPath, [BUILD, file], { timeout: 120_000 });
    bundle = await readFile(file);
    const sha256 = createHash('sha256').update(bundle).digest('hex');
    const agentRelease = { version: SERVER_VERSION, sha256, bytes: bundle.length, file: bundle };
    // Its address is in the script.
    const server = { SIGNALBOX_LISTEN: `127.0.0.1:${await freePort()}` };
    world = await World.start({ overrides: { agentRelease }, server });
    await world.agent!.close();
    world.agent = undefined;
    machine = await OwnMachine.start();
    await machine.write('/root/install.sh', await (await fetch(`${world.server.url}/agent/install.sh`)).text());
    await machine.write('/root/password', 'router-password\n', 0o600);
  });
  afterAll(async () => {
    await machine?.close();
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const install = (...args: string[]) => machine.run('sh', '/root/install.sh', ...args);
  const token = async (): Promise<string> =>
    (await world.caller.call<{ data: { token: string } }>('POST', '/api/enrol-tokens', {})).body.data.token;
  const routerAt = (address: string, passwordFile = '/root/password'): string[] => {
    const login = ['--user', 'signalbox', '--password-file', passwordFile];
    return ['--router', address, ...login];
  };
  const router = (passwordFile?: string): string[] => {
    const port = String(world.simulators[0]!.sshPort);
    return [...routerAt('127.0.0.1', passwordFile), '--ssh-port', port];
  };
  const connections = async (): Promise<number | undefined> => {
    const { body } = await world.caller.call<{ data: { name: string; connected: boolean; sessions_24h: number }[] }>('GET', '/api/agents');
    const agent = body.data.find(({ name }) => name === 'depot');
    return agent?.connected === true ? agent.sessions_24h : undefined;
  };
  const isAnswering = () =>
    waitUntil('its router answers', async () => {
      const { body } = await world.caller.call<{ data: { has_pulse: boolean; agent_name: string }[] }>('GET', '/api/routers');
      return body.data.some(({ has_pulse: pulse, agent_name: name }) => pulse && name === 'depot');
    });

  test('tells what is missing before it changes anything', async () => {
    for (const [args, reason] of [
      [['--token', 'none', '--router', '127.0.0.1'], '--router needs --user and --password-file'],
      [['--tokken', 'none'], 'unknown option --tokken; sh install.sh --help lists them'],
      [['--token', 'none', ...routerAt('127.0.0.1:ssh')], 'ssh is not a port'],
      [['--token', 'none', ...routerAt('127.0.0.1:70000')], '70000 is not a port'],
      [['--token', 'none', ...routerAt(':22')], 'the address of the router is empty'],
      [['--token', 'none', ...routerAt('127.0.0.1:2222'), '--ssh-port', '22'], 'two SSH ports: 2222 and 22'],
      // Nothing listens there.
      [
        ['--token', 'none', ...routerAt('127.0.0.1:1')],
        'The router cannot be reached by SSH at 127.0.0.1, port 1, from this machine: ECONNREFUSED',
      ],
      [['--token', 'none', ...routerAt('[::1]:1')], 'at ::1, port 1, from this machine: '],
      [['--token', 'none', ...routerAt('nowhere.invalid')], 'at nowhere.invalid, port 22, from this machine: E'],
      [['--token'], '--token needs a value'],
      [router(), 'a first installation needs --token'],
      [['--token', 'none', ...router('/root/none')], '/root/none cannot be read'],
      [['--token', 'none'], 'name the first router'],
    ] as const) {
      const { code, output } = await install(...args);
      expect([args, code, output]).toEqual([args, 1, expect.stringContaining(reason)]);
    }
    const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', 'sh', '-s', '--', '--token', 'none'];
    expect(await machine.run('sh', '-c', `setpriv ${asNobody.join(' ')} </root/install.sh`)).toMatchObject({
      code: 1,
      output: expect.stringContaining('must run as root'),
    });
    expect((await machine.run('getent', 'passwd', 'signalbox-agent')).code).not.toBe(0);
    const places = [
      '/opt/signalbox',
      '/etc/signalbox',
      '/var/lib/signalbox-agent',
      '/usr/local/bin/signalbox-agent',
      '/run/systemctl-calls',
    ];
    for (const made of places) expect((await machine.run('test', '-e', made)).code, made).toBe(1);
  });

  test('says what to do where systemd is installed and does not run, and uses no token before', async () => {
    await machine.run('rmdir', '/run/systemd/system');
    const { code, output } = await install('--token', await token(), ...router());
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/systemd is installed and does not run here.*wsl[.]conf.*token was not used/),
    ]);
    expect((await machine.run('test', '-e', '/opt/signalbox')).code).toBe(1);
    await machine.run('mkdir', '/run/systemd/system');
  });

  test('says which options there are', async () => {
    const { code, output } = await install('--help');
    expect(code).toBe(0);
    const script = await machine.read('/root/install.sh');
    for (const [, option] of script.matchAll(/^ +(--[a-z-]+)\) [a-z_]+=/gm)) expect(output).toContain(`  ${option} `);
  });

  test('asks whether to go on where the router cannot be reached, and uses no token before', async () => {
    const made = await world.caller.call<{ data: { id: string; token: string } }>('POST', '/api/enrol-tokens', {});
    const command = `sh /root/install.sh --token ${made.body.data.token}`;
    const { code, output } = await machine.runOnTerminal(command, ['127.0.0.1:1', 'signalbox', 'router-password', 'n']);
    expect([code, output]).toEqual([1, expect.stringContaining('the token was not used')]);
    const { body } = await world.caller.call<{ data: { id: string; status: string }[] }>('GET', '/api/enrol-tokens');
    expect(body.data.find(({ id }) => id === made.body.data.id)).toMatchObject({ status: 'open' });
    expect((await machine.run('test', '-e', '/opt/signalbox')).code).toBe(1);
  });

  test('a token that is refused leaves no configuration, so that the next run is a first one', async () => {
    const { code, output } = await install('--token', 'none', ...router());
    expect([code, output]).toEqual([1, expect.stringMatching(/token/)]);
    for (const made of ['/etc/signalbox/agent.yaml', '/etc/systemd/system/signalbox-agent.service', '/run/systemctl-calls'])
      expect((await machine.run('test', '-e', made)).code, made).toBe(1);
  });

  test('asks for the router, makes a user, files that only this user reads, and a unit that systemd accepts; the agent it starts reaches the router', async () => {
    const command = `sh /root/install.sh --token ${await token()} --name depot --router-name edge-1`;
    const address = `127.0.0.1:${world.simulators[0]!.sshPort}`;
    const { code, output } = await machine.runOnTerminal(command, [address, 'signalbox', 'router-password']);
    expect(code, output).toBe(0);
    // Asked for before anything is fetched, and not shown.
    expect(output).toContain('Password of that user: ');
    expect(output.slice(output.indexOf('Password of that user: '))).not.toContain('router-password');
    expect(output).toMatch(/^What the agent finds:\r\n(?:.*\r\n)*ok\s+edge-1\s+ssh login/m);
    expect(output).toContain('The agent runs.');
    expect(await machine.read('/run/systemctl-calls')).toBe('daemon-reload\nenable signalbox-agent\nrestart signalbox-agent\n');
    expect((await machine.run('getent', 'passwd', 'signalbox-agent')).output).toMatch(
      /:\/var\/lib\/signalbox-agent:\/usr\/sbin\/nologin\n$/,
    );
    const modes = async (...files: string[]) => (await machine.run('stat', '-c', '%a %U %n', ...files)).output.trim().split('\n');
    expect(
      await modes(
        '/etc/signalbox',
        '/etc/signalbox/agent.yaml',
        '/etc/signalbox/router-1.password',
        '/var/lib/signalbox-agent',
        '/var/lib/signalbox-agent/credentials.json',
        '/opt/signalbox/signalbox-agent.cjs',
        '/etc/systemd/system/signalbox-agent.service',
        '/usr/local/bin/signalbox-agent',
      ),
    ).toEqual([
      '755 root /etc/signalbox',
      '600 signalbox-agent /etc/signalbox/agent.yaml',
      '600 signalbox-agent /etc/signalbox/router-1.password',
      '700 signalbox-agent /var/lib/signalbox-agent',
      '600 signalbox-agent /var/lib/signalbox-agent/credentials.json',
      '644 root /opt/signalbox/signalbox-agent.cjs',
      '644 root /etc/systemd/system/signalbox-agent.service',
      '755 root /usr/local/bin/signalbox-agent',
    ]);
    expect(await readFile(machine.file('/opt/signalbox/signalbox-agent.cjs'))).toEqual(bundle);
    const unit = await machine.read('/etc/systemd/system/signalbox-agent.service');
    expect(unit).toMatch(
      /^ExecStart=\/usr\/local\/bin\/node \/opt\/signalbox\/signalbox-agent[.]cjs run --config \/etc\/signalbox\/agent[.]yaml$/m,
    );
    await isAnswering();
  });

  test('the command checks as the service’s user, without a word more', async () => {
    const { code, output } = await machine.run('signalbox-agent', 'check');
    expect([code, output]).toEqual([0, expect.stringMatching(/^ok\s+agent\s+state(?:.*\n)*ok\s+edge-1\s+ssh login/)]);
    expect((await machine.run('find', '/var/lib/signalbox-agent', '-user', 'root')).output).toBe('');
    expect((await machine.run('signalbox-agent', '--version')).output).toBe(`signalbox-agent ${SERVER_VERSION}\n`);
  });

  test('the lines of the page add a router that shares a password file and one with its own, which the agent reads', async () => {
    const port = world.simulators[0]!.sshPort;
    const router = configOf('linux', { server: world.server.url, name: undefined, hasRelease: true })
      .replaceAll(/192\.168\.88\.\d/g, '127.0.0.1')
      .replaceAll('ssh: {', `ssh: { port: ${port},`)
      .replace('router-1.password', 'edge-2.password');
    const config = await machine.read('/etc/signalbox/agent.yaml');
    await machine.write('/root/more', `${router}\n`);
    await machine.run('sh', '-c', 'cat /root/more >>/etc/signalbox/agent.yaml');
    // Typed at a terminal there; the last line of the file that stands for it ends the input, too.
    const lines = passwordLines('linux', true).replaceAll('sudo ', '').replace('tee', '</root/password tee');
    expect(await machine.run('sh', '-c', lines)).toEqual({ code: 0, output: '' });
    const { code, output } = await machine.run('signalbox-agent', 'check');
    expect([code, output]).toEqual([0, expect.stringMatching(/^ok\s+edge-2\s+ssh login[^]*^ok\s+edge-3\s+ssh login/m)]);
    expect((await machine.run('stat', '-c', '%a %U', '/etc/signalbox/edge-2.password')).output).toBe('600 signalbox-agent\n');
    await machine.run('sh', '-c', `cat >/etc/signalbox/agent.yaml <<'END'\n${config}END`);
  });

  test('a command of another installation is kept', async () => {
    await machine.write('/usr/local/bin/signalbox-agent', '#!/bin/sh\necho another\n', 0o755);
    const { code, output } = await install();
    expect([code, output]).toEqual([0, expect.stringContaining('/usr/local/bin/signalbox-agent is of another installation')]);
    expect(await machine.read('/usr/local/bin/signalbox-agent')).toContain('another');
    await machine.run('rm', '/usr/local/bin/signalbox-agent');
  });

  test('its unit has nothing that systemd would complain of', async (context) => {
    const name = '/etc/systemd/system/signalbox-agent.service';
    if ((await machine.run('which', 'systemd-analyze')).code !== 0) return context.skip('systemd-analyze is not installed');
    expect(await machine.run('systemd-analyze', 'verify', '--man=no', name)).toEqual({ code: 0, output: '' });
  });

  test('a second run replaces the program, keeps configuration and credentials, and starts the agent again', async () => {
    const before = { config: await machine.read('/etc/signalbox/agent.yaml'), connections: (await connections()) ?? 0 };
    await machine.write('/opt/signalbox/signalbox-agent.cjs', 'an older one');
    const { code, output } = await install();
    expect(code, output).toBe(0);
    expect(await readFile(machine.file('/opt/signalbox/signalbox-agent.cjs'))).toEqual(bundle);
    expect(await machine.read('/etc/signalbox/agent.yaml')).toBe(before.config);
    await waitUntil('it is connected once more', async () => ((await connections()) ?? 0) > before.connections);
    await isAnswering();
  });

  test('does not overlook another router: the configuration is kept, and the person is told', async () => {
    const { code, output } = await install(...router());
    expect([code, output]).toEqual([1, expect.stringContaining('/etc/signalbox/agent.yaml is there already')]);
  });

  test('refuses a program with another SHA-256, and leaves the present one', async () => {
    await machine.write('/root/other.sh', (await machine.read('/root/install.sh')).replace(/^SHA256=.*/m, `SHA256=${'0'.repeat(64)}`));
    const { code, output } = await machine.run('sh', '/root/other.sh');
    expect([code, output]).toEqual([1, expect.stringContaining('another SHA-256')]);
    expect(await readFile(machine.file('/opt/signalbox/signalbox-agent.cjs'))).toEqual(bundle);
    expect((await machine.run('ls', '/opt/signalbox')).output).toBe('signalbox-agent.cjs\n');
  });
});
