import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAgentRelease } from '../../server/operations/downloads/service.ts';
import { installScript } from '../../server/operations/downloads/install-script.ts';
import { SERVER_VERSION } from '../../server/version.ts';
import { World } from '../harness/world.ts';

const FILE = Buffer.from("process.stdout.write('enrolled')");
const SHA256 = createHash('sha256').update(FILE).digest('hex');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-downloads-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a control plane with a built agent', () => {
  let world: World;
  const get = (address: string): Promise<Response> => fetch(`${world.server.url}/agent/${address}`);

  beforeAll(async () => {
    const agentRelease = { version: SERVER_VERSION, sha256: SHA256, bytes: FILE.length, file: FILE };
    const settings = { SIGNALBOX_PUBLIC_URL: "https://signalbox.example.net/o'clock" };
    world = await World.start({ routers: [], overrides: { agentRelease }, server: settings });
  });
  afterAll(() => world?.close());

  test('says which agent it hands out, without a credential', async () => {
    const url = "https://signalbox.example.net/o'clock/agent/signalbox-agent.cjs";
    expect(await (await get('release')).json()).toEqual({ version: SERVER_VERSION, sha256: SHA256, bytes: FILE.length, url });
  });

  test('hands it out', async () => {
    const answer = await get('signalbox-agent.cjs');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(FILE);
    expect(await (await get('signalbox-agent.cjs.sha256')).text()).toBe(`${SHA256}  signalbox-agent.cjs\n`);
  });

  test('writes its address into the script in such a way that a shell reads nothing else in it', async () => {
    const script = await (await get('install.sh')).text();
    expect(script).toContain(String.raw`SERVER='https://signalbox.example.net/o'\''clock'`);
    expect(script).not.toMatch(/__[A-Z0-9]+__/);
    const { code, stderr } = await run('sh', ['-n', '-c', script]);
    expect([code, stderr]).toEqual([0, '']);
  });
});

test('a control plane without a built agent says how to make it', async () => {
  const world = await World.start({ routers: [], overrides: { agentRelease: null } });
  try {
    const release = await fetch(`${world.server.url}/agent/release`);
    expect([release.status, await release.json()]).toEqual([200, null]);
    for (const address of ['signalbox-agent.cjs', 'signalbox-agent.cjs.sha256', 'install.sh']) {
      const answer = await fetch(`${world.server.url}/agent/${address}`);
      expect([address, answer.status]).toEqual([address, 404]);
      expect(((await answer.json()) as { detail: string }).detail).toContain('npm run build:agent');
    }
  } finally {
    await world.close();
  }
});

test.each([
  'docs/agent.md',
  'server/operations/downloads/install-agent.sh',
  'scripts/build-agent/build.ts',
  'console/src/pages/settings/first/words.ts',
])('%s says what brings the Node that the agent needs', async (file) => {
  const text = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(text).toContain('sudo npm install --global --prefix /usr/local node@24');
});

test('an agent of another version is not handed out', async () => {
  expect(readAgentRelease(folder)).toBeNull();
  await writeFile(path.join(folder, 'signalbox-agent.cjs'), FILE);
  await writeFile(path.join(folder, 'signalbox-agent.json'), JSON.stringify({ version: '0.0.1' }));
  expect(readAgentRelease(folder)).toBeNull();
  await writeFile(path.join(folder, 'signalbox-agent.json'), JSON.stringify({ version: SERVER_VERSION }));
  expect(readAgentRelease(folder)).toMatchObject({ version: SERVER_VERSION, sha256: SHA256 });
});

describe('the script', () => {
  /** Runs it below a folder of its own; routers are tested in test/e2e/install-script.test.ts. The control plane's address is a folder, from which curl reads files. */
  async function install(name: string, sha256: string, ...args: string[]): Promise<Ended & { machine: string }> {
    const server = path.join(folder, `${name}-server`);
    const machine = path.join(folder, name);
    const script = installScript({ release: { version: SERVER_VERSION, sha256 }, publicUrl: `file://${server}` });
    await run('mkdir', ['-p', path.join(server, 'agent')]);
    await writeFile(path.join(server, 'agent', 'signalbox-agent.cjs'), FILE);
    return { machine, ...(await run('sh', ['-c', script, 'install.sh', ...args], { DESTDIR: machine })) };
  }

  test('installs nothing when the file has another SHA-256', async () => {
    const passwordFile = path.join(folder, 'password.txt');
    await writeFile(passwordFile, 'a password');
    const router = ['--router', '192.168.88.1', '--user', 'signalbox', '--password-file', passwordFile];
    const { code, stderr, machine } = await install('changed', '0'.repeat(64), '--token', 't', '--skip-router-test', ...router);
    expect([code, stderr]).toEqual([1, expect.stringContaining('another SHA-256')]);
    await expect(stat(path.join(machine, 'opt/signalbox/signalbox-agent.cjs'))).rejects.toThrow('ENOENT');
    await expect(stat(path.join(machine, 'opt/signalbox/signalbox-agent.cjs.part'))).rejects.toThrow('ENOENT');
  });

  test.each([
    [['--speed', 'high'], 'unknown option --speed; sh install.sh --help lists them'],
    [['--token'], '--token needs a value'],
    [['--router', '192.168.88.1'], '--router needs --user and --password-file'],
  ])('refuses %j', async (args, reason) => {
    const { code, stderr } = await install('refused', SHA256, ...args);
    expect([code, stderr]).toEqual([1, `install.sh: ${reason}\n`]);
  });

  test('keeps passwords from others, and writes YAML that says what was given', async () => {
    const password = path.join(folder, 'password');
    await writeFile(password, 'pa$$ `word`\n');
    const { code, stderr, machine } = await install(
      'depot',
      SHA256,
      ...'--token t --skip-router-test --router 10.0.0.1 --user'.split(' '),
      "o'neil",
      '--password-file',
      password,
    );
    expect([code, stderr]).toEqual([0, '']);
    const config = path.join(machine, 'etc/signalbox');
    expect(await readFile(path.join(config, 'router-1.password'), 'utf8')).toBe('pa$$ `word`\n');
    expect((await stat(path.join(config, 'router-1.password'))).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(machine, 'var/lib/signalbox-agent'))).mode & 0o777).toBe(0o700);
    expect(await readFile(path.join(config, 'agent.yaml'), 'utf8')).toContain("username: 'o''neil'");
  });

  test('run again, it replaces the program and keeps the configuration', async () => {
    const password = path.join(folder, 'password');
    await writeFile(password, 'secret');
    const { machine } = await install(
      'twice',
      SHA256,
      ...'--token t --skip-router-test --router 10.0.0.1 --user a --password-file'.split(' '),
      password,
    );
    await writeFile(path.join(machine, 'etc/signalbox/agent.yaml'), 'changed: by hand');
    await writeFile(path.join(machine, 'var/lib/signalbox-agent/credentials.json'), '{}');
    await writeFile(path.join(machine, 'opt/signalbox/signalbox-agent.cjs'), 'old');
    const { code, stderr } = await install('twice', SHA256);
    expect([code, stderr]).toEqual([0, '']);
    expect(await readFile(path.join(machine, 'etc/signalbox/agent.yaml'), 'utf8')).toBe('changed: by hand');
    expect(await readFile(path.join(machine, 'opt/signalbox/signalbox-agent.cjs'))).toEqual(FILE);
  });
});

interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

function run(program: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const PATH = `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`;
  return new Promise((resolve) => {
    execFile(program, args, { env: { PATH, ...env }, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}
