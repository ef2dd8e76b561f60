import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { AGENT_VERSION } from '../../agent/version.ts';

/** The agent's command line after a fresh installation. */

const MAIN = fileURLToPath(new URL('../../agent/main.ts', import.meta.url));

/** Nothing listens on port 9 of this machine. */
const server = 'http://127.0.0.1:9';
const credentials = { server, agent_id: '01900000-0000-7000-8000-000000000000', secret: 'a'.repeat(43) };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-agent-cli-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function run(...args: string[]): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr });
    });
  });
}

async function writeConfig(settings: object): Promise<string> {
  const file = path.join(folder, 'agent.yaml');
  const routers = [{ name: 'r', host: '127.0.0.1', api: { port: 9, username: 'a', password: 'b' } }];
  await writeFile(path.join(folder, 'credentials.json'), JSON.stringify(credentials));
  await writeFile(file, stringify({ server, credentials: 'credentials.json', state: 'state', routers, ...settings }));
  return file;
}

test.each([['--version'], ['-V']])('%s prints the version', async (word) => {
  expect(await run(word)).toEqual({ code: 0, output: `signalbox-agent ${AGENT_VERSION}\n` });
});

test('an unreadable CA file is reported in one line before the token is used', async () => {
  const file = path.join(folder, 'ca.pem');
  expect(await run('enrol', '--server', server, '--token', 't', '--credentials', path.join(folder, 'c.json'), '--server-ca', file)).toEqual(
    { code: 1, output: `signalbox-agent: --server-ca: ${file} cannot be read: no such file or directory (ENOENT)\n` },
  );
});

test('a state folder that cannot be created is reported in one line at the start', async () => {
  const config = await writeConfig({ state: 'credentials.json/state' });
  expect(await run('run', '--config', config)).toEqual({
    code: 1,
    output: `signalbox-agent: state: ${folder}/credentials.json/state cannot be written: not a directory (ENOTDIR)\n`,
  });
});

test('a check tests the state folder and leaves nothing behind', async () => {
  const good = await run('check', '--config', await writeConfig({}));
  expect(good.output).toMatch(new RegExp(`^ok    agent +state +${folder}/state$`, 'm'));
  expect((await readdir(folder)).toSorted()).toEqual(['agent.yaml', 'credentials.json']);
  const bad = await run('check', '--config', await writeConfig({ state: 'credentials.json/state' }));
  expect(bad).toEqual({
    code: 1,
    output: expect.stringMatching(/^FAIL {2}agent +state +state: .*cannot be written: not a directory/m) as string,
  });
});
