import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { checkAgent } from '../../agent/check.ts';
import { loadConfig } from '../../agent/config.ts';
import { systemClock } from '../../agent/core/clock.ts';
import { enrolAtFirstStart } from '../../agent/link/first-start.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator } from '../simulator/index.ts';

/** An agent whose configuration names a token file enrols by itself, as one does that a router starts. */

const MAIN = fileURLToPath(new URL('../../agent/main.ts', import.meta.url));

let world: World;
let router: Simulator;
let tokenFile: string;
let credentialsFile: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  world = await World.start({ routers: [] });
  router = await startSimulator({ apiPort: 0, sshPort: 0, identity: 'edge', users: [{ name: 'signalbox', password: 'p', group: 'full' }] });
  tokenFile = path.join(world.folder, 'enrol-token');
  credentialsFile = path.join(world.folder, 'credentials.json');
});

afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
  child = undefined;
  await router.close();
  await world.close();
});

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function newToken(): Promise<string> {
  return (await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null })).token;
}

async function writeConfig({ server = world.server.url, ...more }: { server?: string; name?: string } = {}): Promise<string> {
  const file = path.join(world.folder, 'agent.yaml');
  const routers = [{ name: 'edge', host: '127.0.0.1', api: { port: router.apiPort, username: 'signalbox', password: 'p' } }];
  await writeFile(
    file,
    stringify({ server, ...more, credentials: 'credentials.json', enrol_token_file: 'enrol-token', state: 'state', routers }),
  );
  return file;
}

async function startProgram(config: string): Promise<() => string> {
  let output = '';
  child = spawn(process.execPath, [MAIN, 'run', '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (data: Buffer) => (output += data.toString()));
  return () => output;
}

function firstStart(server: string, signal = AbortSignal.timeout(30_000)): Promise<boolean> {
  return enrolAtFirstStart(
    { server, tokenFile, credentialsFile, name: 'edge', signal },
    { clock: systemClock, random: () => 0, log: silentLog },
  );
}

test('run enrols with the token file and removes it; the next run uses the stored credentials', async () => {
  await writeFile(tokenFile, `${await newToken()}\n`);
  const config = await writeConfig();
  const output = await startProgram(config);
  const listed = async (): Promise<boolean> => {
    const { body } = await world.caller.call<{ data: { identity: string; has_pulse: boolean }[] }>('GET', '/api/routers');
    return body.data.some(({ identity, has_pulse: hasPulse }) => identity === 'edge' && hasPulse);
  };
  await waitUntil('the router is listed', listed);
  expect(await exists(tokenFile)).toBe(false);
  expect((await stat(credentialsFile)).mode & 0o777).toBe(0o600);
  expect(output()).toContain('"name":"edge"');
  const { body } = await world.caller.call<{ data: { name: string }[] }>('GET', '/api/agents');
  expect(body.data.map(({ name }) => name)).toEqual(['edge']);
  const before = await readFile(credentialsFile, 'utf8');
  child!.kill();
  expect(await once(child!, 'exit')).toEqual([0, null]);
  await waitUntil('the router is gone', async () => !(await listed()));
  await startProgram(config);
  await waitUntil('the router is back', listed);
  expect(await readFile(credentialsFile, 'utf8')).toBe(before);
});

test('run enrols under the name in the configuration', async () => {
  await writeFile(tokenFile, await newToken());
  await startProgram(await writeConfig({ name: "Riga's #1: on" }));
  await waitUntil('the agent has its name', async () => {
    const { body } = await world.caller.call<{ data: { name: string }[] }>('GET', '/api/agents');
    return body.data.some(({ name }) => name === "Riga's #1: on");
  });
});

test('an unreachable control plane is retried, and the token file stays until the enrolment', async () => {
  await writeFile(tokenFile, await newToken());
  const { url } = world.server;
  await world.server.close();
  const enrolling = firstStart(url);
  const { port } = new URL(url);
  // One that is not ready answers in its place for a while.
  const busy = http.createServer((_request, response) => response.writeHead(503).end());
  const asked = once(busy, 'request');
  await once(busy.listen(Number(port), '127.0.0.1'), 'listening');
  await asked;
  expect(await exists(tokenFile)).toBe(true);
  const closed = once(busy, 'close');
  busy.close();
  busy.closeAllConnections();
  await closed;
  await world.restartServer();
  expect(await enrolling).toBe(true);
  expect([await exists(tokenFile), await exists(credentialsFile)]).toEqual([false, true]);
});

test('a stop signal ends the wait for a control plane, and the token file stays', async () => {
  await writeFile(tokenFile, await newToken());
  const told = new AbortController();
  const nobody = http.createServer();
  await once(nobody.listen(0, '127.0.0.1'), 'listening');
  const { port } = nobody.address() as AddressInfo;
  const closed = once(nobody, 'close');
  nobody.close();
  await closed;
  const enrolling = firstStart(`http://127.0.0.1:${port}`, told.signal);
  told.abort();
  expect(await enrolling).toBe(false);
  expect([await exists(tokenFile), await exists(credentialsFile)]).toEqual([true, false]);
});

test('a used token ends the program with the reason', async () => {
  const token = await newToken();
  await world.server.services.credentials.enrolAgent(token, 'another');
  await writeFile(tokenFile, token);
  const output = await startProgram(await writeConfig());
  expect(await once(child!, 'exit')).toEqual([1, null]);
  expect(output()).toMatch(/signalbox-agent: the control plane refuses to enrol this agent: the enrolment token /);
});

test.each([
  ['missing', undefined, /credentials\.json is missing, and so is .*enrol-token: put a new enrolment token there/],
  ['empty', ' \n', /credentials\.json is missing, and .*enrol-token is empty: put a new enrolment token there/],
])('a token file that is %s is reported', async (_what, text, reason) => {
  if (text !== undefined) await writeFile(tokenFile, text);
  await expect(firstStart(world.server.url)).rejects.toThrow(reason);
});

test('a token file left by a power cut is removed at the next start, without another enrolment', async () => {
  await writeFile(credentialsFile, '{}');
  await writeFile(tokenFile, 'T0ken');
  expect(await firstStart('http://127.0.0.1:9')).toBe(true);
  expect([await exists(tokenFile), await readFile(credentialsFile, 'utf8')]).toEqual([false, '{}']);
});

test('check reports that the first run will enrol, and does not use the token', async () => {
  await writeFile(tokenFile, await newToken());
  const rows = await checkAgent(await loadConfig(await writeConfig()));
  expect(rows.find(({ what }) => what === 'credentials')).toMatchObject({
    ok: true,
    detail: `none yet: the first run enrols with the token in ${tokenFile}`,
  });
  expect([await exists(tokenFile), await exists(credentialsFile)]).toEqual([true, false]);
});
