import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../client/cli/run.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

let world: World;
let home: string;
let ids: string[];
beforeAll(async () => {
  world = await World.start({ routers: [{ version: '7.18.2' }, { version: '6.49.18' }] });
  ids = await world.routerIds();
  home = await mkdtemp(path.join(os.tmpdir(), 'signalbox-home-'));
});
afterAll(async () => {
  await world.close();
  await rm(home, { recursive: true });
});

async function runWith(
  words: string[],
  options: { env?: Record<string, string>; input?: string; signal?: AbortSignal } = {},
): Promise<Ran> {
  const ran = { stdout: '', stderr: '' };
  const code = await runCli(words, {
    stdout: (text) => void (ran.stdout += text),
    stderr: (text) => void (ran.stderr += text),
    readInput: async () => options.input ?? '',
    env: { HOME: home, ...options.env },
    signal: options.signal ?? new AbortController().signal,
    columns: Infinity,
  });
  return { code, ...ran };
}

/** A port that is free for the moment. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const run = (...words: string[]): Promise<Ran> => runWith(words);

async function json<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

beforeEach(async () => {
  await runWith(['login', '--server', world.server.url], { input: `${world.caller.apiKey}\n` });
});

describe('login', () => {
  test('stores a valid key in a file that only its owner can read', async () => {
    const file = path.join(home, '.config/signalbox/profile.json');
    await rm(file);
    const { code, stdout } = await runWith(['login', '--server', `${world.server.url}/`], { input: `${world.caller.apiKey}\n` });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `logged in to ${world.server.url}; the key is stored in ${file}\n` });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ server: world.server.url, key: world.caller.apiKey });
  });

  test('does not store an invalid key', async () => {
    const wrong = world.caller.apiKey.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    const elsewhere = path.join(home, 'elsewhere.json');
    expect(await runWith(['login', '--server', world.server.url, '--key', wrong, '--profile', elsewhere])).toMatchObject({ code: 5 });
    await expect(stat(elsewhere)).rejects.toThrow('ENOENT');
  });

  test('never sends the stored key to another server', async () => {
    expect(await run('routers', '--server', 'http://127.0.0.1:1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no API key for http://127.0.0.1:1'),
    });
  });

  test('reports a missing profile by its path', async () => {
    expect(await run('routers', '--profile', '/nowhere.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no profile /nowhere.json'),
    });
    expect(await run('routers', '--profile', '/nowhere.json', '--server', world.server.url, '--key', world.caller.apiKey)).toMatchObject({
      code: 0,
    });
  });

  test('prefers options and the environment to the profile, also in front of the command', async () => {
    const other = await world.addTeam('Other');
    expect(await runWith(['--key', other.apiKey, '--server', world.server.url, 'routers'])).toMatchObject({
      code: 0,
      stdout: 'no routers yet\n',
    });
    const env = { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: other.apiKey };
    expect(await runWith(['routers', '--json'], { env })).toMatchObject({ code: 0, stdout: '[]\n' });
  });
});

test('an incomplete command lists its commands, and a refusal names each field once', async () => {
  expect(await run('job')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^signalbox: job needs a command\n\nUsage: signalbox job COMMAND/),
  });
  expect(await run('job', 'undo')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^signalbox: unknown command: job undo\n/) });
  const open = (...words: string[]) => run('forward', 'open', 'router-0', ...words);
  expect(await open('127.0.0.1:80', '--from', '127.0.0.1', '--minutes', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^signalbox: expire_after_minutes: must be at least 10 \(422, request \S+\)\n$/),
  });
  expect(await open('127.0.0.1:0', '--from', '127.0.0.1', '--minutes', '1')).toMatchObject({
    stderr: expect.stringMatching(/\n {2}expire_after_minutes: must be at least 10\n {2}dst_port: must be at least 1\n$/),
  });
  const here = (listen: string) => run('forward', '--router', 'router-0', '--to', '127.0.0.1:80', '--listen', listen);
  expect(await here('127.0.0.1')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^signalbox: --listen must be ADDRESS:PORT/) });
  expect(await here('127.0.0.1:70000')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^signalbox: --listen: the port must be at most 65535/),
  });
});

describe('routers', () => {
  test('are printed as a table', async () => {
    const { stdout } = await run('routers');
    expect(stdout).toMatch(/^ID +IDENTITY +STATE +SINCE +REASON +MODEL +VERSION +AGENT +FROM\n/);
    expect(stdout).toMatch(new RegExp(`^${ids[0]} +router-0 +answering +\\S+Z +- .* 7\\.18\\.2 +test +127`, 'm'));
  });

  test('are printed as a JSON list', async () => {
    const routers = await json<{ id: string }[]>('routers');
    expect(routers.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  test('run a command by identity or id', async () => {
    expect(await json('run', 'router-0', '/ip/address/print', '?interface=nowhere')).toEqual([]);
    const added = await json('run', ids[0]!, '/ip/address/add', 'address=10.66.0.1/24', 'interface=ether2', 'comment=by hand');
    expect(added).toEqual([{ ret: expect.stringMatching(/^\*/) }]);
    expect(await json('run', 'router-0', '/ip/address/print', '?address=10.66.0.1/24')).toEqual([
      expect.objectContaining({ comment: 'by hand' }),
    ]);
    expect((await run('run', 'router-0', '/system/identity/print')).stdout).toMatch(/^name +router-0$/m);
  });

  test('report refusals with a reason and distinct exit codes', async () => {
    expect(await run('run', 'router-0', '/no/such/thing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/no such command.*\(422, request /),
    });
    expect(await run('run', 'nobody', '/system/identity/print')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^signalbox: router nobody.*\(404, request /),
    });
    const silent = world.simulators[1]!.faults;
    silent.silent = true;
    expect(await run('run', ids[1]!, '/system/identity/print', '--timeout-seconds', '1')).toMatchObject({ code: 4 });
    silent.silent = false;
    const viewer = await world.server.services.credentials.createApiKey({
      teamId: world.caller.teamId,
      name: 'viewer',
      role: 'viewer',
      createdBy: null,
    });
    expect(await run('run', 'router-0', '/system/identity/print', '--key', viewer.apiKey)).toMatchObject({ code: 5 });
    const nobodyListens = { SIGNALBOX_SERVER: `http://127.0.0.1:${await freePort()}`, SIGNALBOX_KEY: world.caller.apiKey };
    expect(await runWith(['routers'], { env: nobodyListens })).toMatchObject({ code: 3, stderr: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('jobs', () => {
  test('are submitted and awaited, with progress on standard error', async () => {
    const { code, stdout, stderr } = await run('job', 'submit', 'router-0', ':put "hello"', '--wait');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^status +completed$/m);
    expect(stdout).toMatch(/\nhello\n$/);
    expect(stderr).toMatch(/^job [0-9a-f-]{36}: pending/);
    expect(stderr).toMatch(/: completed\n$/);
  });

  test('exit with 1 and the reason when they fail', async () => {
    const { job_id: id } = await json<{ job_id: string }>('job', 'submit', 'router-0', ':error "on purpose"');
    const { code, stdout } = await run('job', 'wait', 'router-0', id);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^error +.*on purpose/m);
  });

  test('are read from a file or standard input', async () => {
    const file = path.join(home, 'script.rsc');
    await writeFile(file, ':put "from a file"\n');
    expect((await run('job', 'submit', 'router-0', '--file', file, '--wait')).stdout).toContain('from a file');
    const { stdout } = await runWith(['job', 'submit', 'router-0', '--file', '-', '--wait'], { input: ':put "piped"\n' });
    expect(stdout).toContain('piped');
  });

  test('are submitted once per idempotency key', async () => {
    const submit = () => json<{ job_id: string }>('job', 'submit', 'router-0', ':put 1', '--idempotency-key', 'once');
    expect((await submit()).job_id).toBe((await submit()).job_id);
  });

  test('are listed, shown and canceled while pending', async () => {
    world.simulators[1]!.faults.refuseConnections = true;
    world.simulators[1]!.faults.resetConnections();
    await waitUntil('the router is away', async () => (await run('routers', '--state', 'not_answering')).stdout.includes(ids[1]!));
    const { job_id: id } = await json<{ job_id: string }>('job', 'submit', ids[1]!, ':put 1', '--at-check-in', '--description', 'later');
    expect((await run('job', 'list', ids[1]!, '--status', 'pending')).stdout).toMatch(new RegExp(`^${id} +pending .*later$`, 'm'));
    expect(await json('job', 'show', ids[1]!, id)).toMatchObject({ id, status: 'pending' });
    expect((await run('job', 'cancel', ids[1]!, id)).stdout).toBe(`job ${id} is deleted\n`);
    expect((await run('job', 'wait', ids[1]!, id)).code).toBe(1);
    world.simulators[1]!.faults.refuseConnections = false;
  });

  test('stop waiting on Ctrl-C', async () => {
    const { job_id: id } = await json<{ job_id: string }>('job', 'submit', 'router-0', ':delay 1s');
    const ended = new AbortController();
    const waiting = runWith(['job', 'wait', 'router-0', id], { signal: ended.signal });
    ended.abort();
    expect(await waiting).toMatchObject({ code: 130 });
  });
});

test('forwards are opened, listed, used and closed', async () => {
  const target = net.createServer((socket) => void socket.on('error', () => undefined).end('hello')).listen(0, '127.0.0.1');
  await waitUntil('the target listens', () => target.listening);
  const { port } = target.address() as net.AddressInfo;
  const opened = await run('forward', 'open', 'router-0', `127.0.0.1:${port}`, '--from', '127.0.0.1', '--minutes', '10');
  expect(opened.stdout).toMatch(
    new RegExp(`^127\\.0\\.0\\.1:\\d+ leads to 127\\.0\\.0\\.1:${port}\nfor 127\\.0\\.0\\.1/32 until .*Z\nforward `),
  );
  const [forward] = await json<{ id: string; port: number }[]>('forward', 'list', 'router-0');
  expect((await run('forward', 'list', 'router-0')).stdout).toMatch(new RegExp(`^${forward!.id} .* open `, 'm'));
  expect((await run('forward', 'close', 'router-0', forward!.id)).stdout).toBe(`forward ${forward!.id} is closed\n`);
  expect((await run('forward', 'list', 'router-0')).stdout).toBe('no forwards\n');
  expect((await run('forward', 'list', 'router-0', '--all')).stdout).toContain('revoked');
  target.close();
});

test("a forward that the agent's rules forbid is refused and leaves no port open", async () => {
  const refused = await run('forward', 'open', 'router-0', '8.8.8.8:53', '--from', '127.0.0.1');
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^the forward to 8\.8\.8\.8:53 is refused: .+\n$/) });
  const here = await run('forward', '--router', 'router-0', '--to', '8.8.8.8:53', '--listen', `127.0.0.1:${await freePort()}`);
  expect(here).toMatchObject({ code: 1, stderr: expect.stringContaining('the forward to 8.8.8.8:53 is refused: ') });
  expect((await run('forward', 'list', 'router-0')).stdout).toBe('no forwards\n');
});

test('an export is printed as text', async () => {
  const { code, stdout } = await run('run', 'router-0', '/export');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^# .* by RouterOS 7\.18\.2\n/);
  expect(stdout).toMatch(/^\/ip address$/m);
  expect(stdout).not.toMatch(/^line /m);
});

test('a router named by its identity costs one request', async () => {
  const key = await world.server.services.credentials.createApiKey({ teamId: world.caller.teamId, name: 'counted', createdBy: null });
  const remaining = async (): Promise<number> => {
    const answer = await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${key.apiKey}` } });
    return Number(answer.headers.get('ratelimit-remaining'));
  };
  const before = await remaining();
  expect(await run('run', 'router-0', '/system/identity/print', '--key', key.apiKey)).toMatchObject({ code: 0 });
  expect(before - (await remaining())).toBe(2);
});

test('devices are listed, searched and named', async () => {
  const devices = await waitUntil('devices are known', async () => {
    const found = await json<{ mac_address: string }[]>('devices');
    return found.length > 0 ? found : undefined;
  });
  const mac = devices[0]!.mac_address;
  expect((await run('device', 'name', mac, 'Till')).stdout).toBe(`${mac} is Till\n`);
  const { stdout } = await run('devices', '--search', 'till');
  expect(stdout).toMatch(new RegExp(`^${mac} .* Till .* router-\\d `, 'm'));
  expect(stdout.split('\n')[0]).toMatch(/ROUTER +SITE +LAST SEEN$/);
});

describe('agents', () => {
  test('are replaced with a token, revoked, and removed with their routers', async () => {
    const { credentials: auth } = world.server.services;
    const made = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const { agent_id: id } = await auth.enrolAgent(made.token, 'spare');
    const { stdout } = await run('agent', 'replace', id);
    expect(await auth.presentEnrolToken(stdout.split('\n')[0]!, 'new')).toMatchObject({ status: 'enrolled', agentId: id });
    expect(await json('agent', 'replace', id)).toMatchObject({ replaces_agent_id: id, status: 'open' });
    expect(await run('agent', 'remove', id)).toMatchObject({
      code: 0,
      stdout: `removed ${id} and its routers; their history stays readable\n`,
    });
    expect((await json<{ id: string }[]>('agents')).map((agent) => agent.id)).not.toContain(id);
    expect(await run('agent', 'replace', id)).toMatchObject({
      code: expect.not.toSatisfy((code: number) => code === 0) as number,
      stderr: expect.stringContaining('is not an agent of this team, or is revoked') as string,
    });
  });
});

describe('the team', () => {
  test.each([
    ['agents', /^ID +NAME +STATE +SINCE +VERSION +SITE\n.* connected /],
    ['keys', /^ID +NAME +ROLE +STATUS +CREATED +LAST USED +EXPIRES\n.* live /],
    ['members', /^(?:no members|ID +EMAIL)/],
    ['router-moves', /^no router moves/],
    ['sites', /^(?:no sites|ID +NAME)/],
    ['audit', /^TIME +ACTOR +FROM +ACTION +TARGET +RESULT +DETAIL\n/],
    ['faults', /^(?:no faults|ROUTER +SINCE)/],
  ])('prints %s as a table and as a JSON list', async (name, table) => {
    expect((await run(name)).stdout).toMatch(table);
    expect(await json<unknown[]>(name)).toBeInstanceOf(Array);
  });
});

test('a campaign is started by names, shown and listed', async () => {
  const started = await json<{ id: string; target_count: number }>('campaign', 'start', ':put 1', '--routers', 'router-0');
  expect(started.target_count).toBe(1);
  await waitUntil('the campaign has finished', async () => (await run('campaign', 'show', started.id)).stdout.includes('finished'));
  expect((await run('campaign', 'show', started.id)).stdout).toMatch(/^router-0 +.* completed /m);
  expect((await run('campaign', 'list')).stdout).toMatch(new RegExp(`^${started.id} +finished +1 +1 completed `, 'm'));
  expect(await run('campaign', 'start', ':put 1', '--routers', 'nobody')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no router is called nobody'),
  });
  expect(await run('campaign', 'start', ':put 1')).toMatchObject({ code: 2, stderr: expect.stringContaining('give --routers or --sites') });
});

test('backups are listed, downloaded and compared', async () => {
  expect(await run('job', 'submit', 'router-0', '/system/identity/set name=router-0', '--backup', '--wait')).toMatchObject({ code: 0 });
  const [backup] = await waitUntil('the backup is stored', async () => {
    const found = await json<{ id: string; state: string }[]>('backups', 'router-0');
    return found[0]?.state === 'stored' ? found : undefined;
  });
  expect((await run('backups', 'router-0')).stdout).toMatch(new RegExp(`^${backup!.id} .* stored +.*export \\(\\d+ bytes\\)`, 'm'));
  expect((await run('backup', 'download', 'router-0', backup!.id)).stdout).toMatch(/^# .* by RouterOS /);
  const file = path.join(home, 'router.backup');
  expect(await run('backup', 'download', 'router-0', backup!.id, file, '--part', 'binary')).toMatchObject({ code: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(file)).size).toBeGreaterThan(0);
  expect(await run('backup', 'diff', 'router-0', backup!.id, backup!.id)).toMatchObject({ code: 0, stdout: 'no difference\n' });
  expect(await run('backup', 'download', 'router-0', backup!.id, '--part', 'binary')).toMatchObject({ code: 2 });
});

test('events are printed as they happen', async () => {
  const ended = new AbortController();
  const listening = runWith(['events', '--types', 'job.completed', '--count', '1', '--json'], { signal: ended.signal });
  const completed = waitUntil('an event is printed', async () => {
    await run('job', 'submit', 'router-0', ':put 1', '--wait');
    return Promise.race([listening, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]);
  });
  const { code, stdout } = await completed;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'job.completed', data: { status: 'completed' } });
});

test.each([
  [['job'], 'job submit'],
  [['run', 'router-0'], 'COMMAND is missing'],
  [['routers', 'all'], 'unexpected argument: all'],
  [['routers', '--colour'], '--colour'],
  [['job', 'submit', 'router-0'], 'give SCRIPT or --file'],
  [['forward', 'open', 'router-0', '10.0.0.1:22'], '--from is missing'],
  [['forward', 'open', 'router-0', '10.0.0.1', '--from', '192.0.2.1'], 'ADDRESS:PORT'],
  [['job', 'list', 'router-0', '--limit', 'many'], '--limit must be a whole number'],
  [['routers', '--server', 'ftp://x'], 'an address like https://'],
])('a wrong command line shows the usage and ends with 2: %j', async (words, reason) => {
  expect(await runWith([...words], { env: { SIGNALBOX_KEY: world.caller.apiKey } })).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(reason),
  });
});

test('router moves are listed and refused, and an unknown one is reported', async () => {
  expect(await run('router-moves')).toMatchObject({ code: 0, stdout: 'no router moves\n' });
  const { credentials: auth } = world.server.services;
  const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'depot-new');
  const agent = new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port)).start();
  try {
    await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
    const facts = {
      serial_number: 'SERIAL0',
      software_id: null,
      identity: 'router-0',
      software_version: '7.18.2',
      model: null,
      board_name: 'CHR',
      hardware_board: true,
    };
    agent.send({
      type: 'inventory',
      router: 'one',
      facts: { ...facts, hardware_id: 'SERIAL0', architecture: null, time_zone: null, uptime: '1d', uptime_seconds: 86_400 },
    });
    const [move] = await waitUntil('the move waits', async () => {
      const list = await json<{ id: string; state: string }[]>('router-moves');
      return list.length > 0 && list;
    });
    expect((await run('router-moves')).stdout).toMatch(/pending +router-0 +SERIAL0 +\S+ +depot-new +one /);
    expect(await run('router-move', 'refuse', move!.id)).toMatchObject({
      code: 0,
      stdout: 'refused: the router stays with its present agent\n',
    });
    expect(await json<unknown[]>('router-moves')).toMatchObject([{ id: move!.id, state: 'refused' }]);
    expect(await run('router-move', 'approve', '01890000-0000-7000-8000-000000000000')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('404'),
    });
  } finally {
    await agent.stop();
  }
});

test('the program offers these commands beside the administration', async () => {
  const signalbox = (...words: string[]) =>
    promisify(execFile)(process.execPath, [path.join(import.meta.dirname, '../../bin/signalbox.mjs'), ...words], {
      env: { ...process.env, HOME: home },
    });
  expect((await signalbox('routers', '--json')).stdout).toContain('router-0');
  expect((await signalbox('--help')).stdout).toMatch(/team create[\s\S]*For API users|team create[\s\S]*for API users/);
  await expect(signalbox('run', 'router-0')).rejects.toMatchObject({ code: 2 });
});
