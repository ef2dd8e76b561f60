import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { runCli } from '../../server/cli/run.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { SERVER_VERSION } from '../../server/version.ts';
import { databaseKinds, type TestDatabase } from '../harness/databases.ts';
import { silentLog } from '../harness/silent-log.ts';

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

async function runWith(databaseUrl: string, words: string[]): Promise<Ran> {
  const ran = { stdout: '', stderr: '' };
  const code = await runCli(words, {
    stdout: (text) => void (ran.stdout += text),
    stderr: (text) => void (ran.stderr += text),
    env: { SIGNALBOX_DATABASE_URL: databaseUrl },
  });
  return { code, ...ran };
}

async function enrolOne(auth: CredentialsService, teamId: string): Promise<{ agentId: string; secret: string }> {
  const { token } = await auth.createEnrolToken({ teamId, siteId: null });
  const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'gw');
  return { agentId, secret };
}

describe.each(databaseKinds())('signalbox on $name', (kind) => {
  let database: TestDatabase;
  let folder: string;

  const run = (...words: string[]): Promise<Ran> => runWith(database.url, words);

  /** Runs with `--json` and reads the one object. */
  async function json(...words: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await run(...words, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\{.*\}\n$/);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async function withAuth<T>(use: (auth: CredentialsService) => Promise<T>): Promise<T> {
    const storage = await openStorage(database.url, { log: silentLog });
    try {
      return await use(new CredentialsService({ storage, clock: systemClock, log: silentLog }));
    } finally {
      await storage.close();
    }
  }

  beforeEach(async () => {
    database = await kind.create();
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-cli-'));
  });
  afterEach(async () => {
    await database.remove();
    await rm(folder, { recursive: true });
  });

  test('signing keys are listed, rotated and replaced, and never shown', async () => {
    const withKey = async (...words: string[]) => {
      const ran = { stdout: '', stderr: '' };
      const env = { SIGNALBOX_DATABASE_URL: database.url, SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key') };
      const code = await runCli(words, { stdout: (text) => void (ran.stdout += text), stderr: (text) => void (ran.stderr += text), env });
      return { code, ...ran };
    };
    expect(await withKey('signing-key', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('No key yet') as string });
    const rotated = await withKey('signing-key', 'replace', '--json');
    const { id } = JSON.parse(rotated.stdout) as { id: string };
    const next = JSON.parse((await withKey('signing-key', 'rotate', '--json')).stdout) as { id: string; state: string };
    expect(next.state).toBe('next');
    expect(await withKey('signing-key', 'rotate')).toMatchObject({ code: 1, stderr: expect.stringContaining(next.id) as string });
    const { stdout } = await withKey('signing-key', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      keys: [
        { id: next.id, state: 'next' },
        { id, state: 'signing' },
      ],
    });
  });

  test('a new team has four topics, with kinds that exist', async () => {
    const { id } = await json('team', 'create', 'North');
    const storage = await openStorage(database.url, { log: silentLog });
    try {
      const rows = await storage.db
        .selectFrom('topics')
        .select(['name', 'events'])
        .where('team_id', '=', String(id))
        .orderBy('id')
        .execute();
      expect(rows.map(({ name }) => name)).toEqual(['Outages', 'WAN', 'Router health', 'Failed jobs']);
      expect(JSON.parse(rows[0]!.events)).toEqual(['fault.router_offline', 'fault.agent_offline']);
    } finally {
      await storage.close();
    }
  });

  test('the operator is warned of a password that somebody would guess, and may set it', async () => {
    const team = await json('team', 'create', 'North');
    const file = path.join(folder, 'password');
    await writeFile(file, '1234567890ab\n');
    expect(
      await run('user', 'create', 'ada@example.org', '--team', String(team['id']), '--role', 'viewer', '--password-file', file),
    ).toMatchObject({ code: 0, stdout: expect.stringContaining('somebody would guess this password. It must be more than rows of keys') });
  });

  test('a password that is lost is replaced, for members of several teams too', async () => {
    const team = await json('team', 'create', 'North');
    await json('user', 'create', 'ada@example.org', '--team', String(team['id']), '--role', 'viewer');
    const { password } = await json('user', 'password', 'Ada@example.org');
    expect(password).toMatch(/^\w{20}$/);
    const file = path.join(folder, 'password');
    await writeFile(file, 'battery staple\n');
    expect(await json('user', 'password', 'ada@example.org', '--password-file', file)).toMatchObject({ password: null });
    expect(await run('user', 'password', 'eve@example.org')).toMatchObject({
      code: 1,
      stderr: 'signalbox: user eve@example.org not found\n',
    });
  });

  test('an administrator of the installation is made here, of a new account or by name, and is one no longer when that is said', async () => {
    await run('team', 'create', 'North');
    await run('team', 'create', 'South');
    const words = ['user', 'create', 'ada@example.org', '--role', 'viewer', '--team'];
    const made = await json(...words, 'North', '--installation-admin');
    expect(made).toMatchObject({ installation_admin: true, password: expect.stringMatching(/^\w{20}$/) as string });
    // Of an account that is there, somebody else may have chosen the password: this is asked for by a command of its own.
    for (const more of [[], ['--without-consent']])
      expect(await run(...words, 'South', '--installation-admin', ...more)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('signalbox user installation-admin') as string,
      });
    expect(await run(...words, 'North', '--installation-admin', '--invite')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('whoever opens the link') as string,
    });
    expect(await json('user', 'installation-admin', 'Ada@example.org', '--remove')).toEqual({ id: made['id'], installation_admin: false });
    await run(...words, 'South', '--without-consent');
    expect((await run('user', 'installation-admin', 'ada@example.org')).stdout).toMatch(
      /^ada@example\.org is an administrator of the installation\nIn the teams: North \(viewer\), South \(viewer\)\nWhoever invited.*user password ada@example\.org\n$/,
    );
    expect(await run('user', 'installation-admin', 'eve@example.org')).toMatchObject({
      code: 1,
      stderr: 'signalbox: user eve@example.org not found\n',
    });
  });

  test('people are told what comes next, and programs are not', async () => {
    expect((await run('team', 'create', 'North East')).stdout).toMatch(
      /\nNext: signalbox user create you@example[.]net --team 'North East' --role admin --installation-admin\n$/,
    );
    const made = await run('user', 'create', 'ada@example.org', '--team', 'North East', '--role', 'admin');
    expect(made.stdout).toMatch(
      /\nSign in at http:\/\/127[.]0[.]0[.]1:8080\/?\nThen choose a password that nobody has seen: http:\/\/127[.]0[.]0[.]1:8080\/me\n$/,
    );
    expect((await run('team', 'create', 'South')).stdout).toMatch(/ --team South --role admin\n$/);
    expect(await json('user', 'create', 'bob@example.org', '--team', 'South', '--role', 'admin')).not.toHaveProperty('next');
  });

  test('a fresh database: team, user, key, site and tokens, each as one JSON object', async () => {
    const team = await json('team', 'create', 'North');
    const unchosen = await run('key', 'create', '--team', 'North', '--name', 'a');
    expect(unchosen.stdout).toMatch(/^API key a, admin: [^]*\nIt may do everything in the team: --role names a lower role\.\n$/);
    expect((await run('key', 'create', '--team', 'North', '--name', 'b', '--role', 'viewer')).stdout).not.toContain('--role');
    expect(team).toEqual({ id: expect.any(String) as string, name: 'North' });
    const passwordFile = path.join(folder, 'password');
    await writeFile(passwordFile, 'correct horse\n');
    expect(await json('user', 'create', 'ada@example.org', '--team', 'North', '--role', 'admin', '--password-file', passwordFile)).toEqual({
      id: expect.any(String) as string,
      email: 'ada@example.org',
      role: 'admin',
      team_id: team['id'],
      password: null,
    });
    expect(await json('user', 'create', 'bob@example.org', '--team', String(team['id']), '--role', 'viewer')).toMatchObject({
      password: expect.stringMatching(/^[A-Za-z0-9]{20}$/) as string,
    });
    expect(
      await json('site', 'create', 'Depot', '--team', 'North', '--time-zone', 'Europe/Madrid', '--latitude', '40.4', '--longitude', '-3.7'),
    ).toMatchObject({ team_id: team['id'], name: 'Depot', time_zone: 'Europe/Madrid', latitude: 40.4, longitude: -3.7 });
    const key = await json('key', 'create', '--team', 'North', '--name', 'demo', '--role', 'operator', '--expires-in-days', '30');
    expect(key).toEqual({
      id: expect.any(String) as string,
      team_id: team['id'],
      name: 'demo',
      role: 'operator',
      api_key: expect.any(String) as string,
    });
    const token = await json('enrol-token', 'create', '--team', 'North', '--site', 'Depot');
    expect(token).toEqual({
      id: expect.any(String) as string,
      token: expect.any(String) as string,
      expires_at: expect.any(String) as string,
    });
    const service = await json('service-token', 'create', 'billing');
    expect(service).toEqual({ id: expect.any(String) as string, name: 'billing', token: expect.any(String) as string });
    await withAuth(async (auth) => {
      expect(await auth.authenticateApiKey(String(key['api_key']))).toMatchObject({ teamId: team['id'], role: 'operator' });
      expect(await auth.authenticateService(String(service['token']))).toMatchObject({ name: 'billing' });
      expect(await auth.enrolAgent(String(token['token']), 'gw')).toHaveProperty('secret');
    });
  });

  test('lines for a router hold the new token and the address of the control plane; those that undo hold none', async () => {
    await run('team', 'create', 'North');
    const words = [
      'enrol-token',
      'create',
      '--team',
      'North',
      '--routeros',
      '--server-url',
      'https://signalbox.example.net',
      '--name',
      'Depot "1" $x',
    ];
    const { code, stdout } = await run(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\{\n[^]*\n\}\n# The token in these lines enrols one agent until .*Z\.\n$/);
    const made = await json(...words);
    const lines = made['routeros'] as string[];
    expect(lines).toContain(`/file/add name="disk1/signalbox/enrol-token.txt" contents="${String(made['token'])}"`);
    expect(lines).toContain(':set sbYaml ($sbYaml . "server: \\22https://signalbox.example.net\\22\\0A")');
    expect(lines.join('\n')).toContain('\\22Depot \\5C\\221\\5C\\22 \\24x\\22');
    await withAuth(async (auth) => expect(await auth.enrolAgent(String(made['token']), 'gw')).toHaveProperty('secret'));
    expect(Object.keys(await json('enrol-token', 'create', '--team', 'North', '--routeros', '--undo', '--disk', 'usb1'))).toEqual([
      'routeros',
    ]);
  });

  test('a token that replaces an agent gives the machine that uses it the same id and new credentials', async () => {
    const team = await json('team', 'create', 'North');
    const old = await withAuth((auth) => enrolOne(auth, String(team['id'])));
    const create = (...words: string[]) => json('enrol-token', 'create', '--team', 'North', '--replaces', old.agentId, ...words);
    const enrolInstead = (present: string, token: unknown) =>
      withAuth(async (auth) => {
        const next = await auth.enrolAgent(String(token), 'gw');
        expect(next.agent_id).toBe(old.agentId);
        expect(await auth.authenticateAgent(`${old.agentId}:${next.secret}`)).toMatchObject({ agentId: old.agentId });
        expect(await auth.authenticateAgent(`${old.agentId}:${present}`)).toBeUndefined();
        return next.secret;
      });
    const secret = await enrolInstead(old.secret, (await create())['token']);
    const { token, routeros } = await create('--routeros', '--server-url', 'https://signalbox.example.net');
    expect(routeros).toContain(`/file/add name="disk1/signalbox/enrol-token.txt" contents="${String(token)}"`);
    await enrolInstead(secret, token);
  });

  test.each([
    ['an agent of another team', [], 1, 'is not an agent of this team'],
    ['an agent of another team, for a router', ['--routeros', '--server-url', 'https://s.example.net'], 1, 'is not an agent of this team'],
    ['a site, which the agent keeps', ['--site', 'Depot'], 1, 'the agent stays in its site'],
  ])('no token replaces %s', async (what, words, code, reason) => {
    const [north, south] = [await json('team', 'create', 'North'), await json('team', 'create', 'South')];
    await run('site', 'create', 'Depot', '--team', 'North');
    const owner = what.includes('another team') ? south : north;
    const { agentId } = await withAuth((auth) => enrolOne(auth, String(owner['id'])));
    const refused = await run('enrol-token', 'create', '--team', 'North', '--replaces', agentId, ...words);
    expect(refused).toEqual({ code, stdout: '', stderr: expect.stringContaining(reason) as string });
    const { tokens } = await json('enrol-token', 'list', '--team', 'North');
    expect(tokens).toHaveLength(owner === north ? 1 : 0);
  });

  test.each([
    [['--routeros'], 'no router can reach http://127.0.0.1:8080'],
    [['--routeros', '--server-url', 'ftp://signalbox.example.net'], '--server-url must be an http or https address'],
    [['--routeros', '--disk', 'disk1"; /system/reboot; "'], '--disk must be the name of a disk'],
    [['--routeros', '--name', 'x'.repeat(65)], '--name must have 1 to 64 characters'],
    [['--disk', 'usb1'], '--disk needs --routeros'],
    [['--undo'], '--undo needs --routeros'],
  ])('lines for a router are refused, and no token is made: %j', async (words, reason) => {
    await run('team', 'create', 'North');
    const { code, stdout, stderr } = await run('enrol-token', 'create', '--team', 'North', ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  test('a person with an account is invited, unless the operator skips the consent', async () => {
    await run('team', 'create', 'North');
    const south = await json('team', 'create', 'South');
    const words = ['user', 'create', 'ada@example.org', '--role', 'viewer', '--team'];
    const { id } = await json(...words, 'North');
    const asked = await json(...words, 'South');
    expect(asked).toMatchObject({ id: null, email: 'ada@example.org', role: 'viewer', team_id: south['id'], password: null });
    expect(asked['invitation']).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/invitation\/[A-Za-z0-9]{40}$/) as string,
    });
    expect(await json(...words, 'South', '--without-consent')).toEqual({
      id,
      email: 'ada@example.org',
      role: 'viewer',
      team_id: south['id'],
      password: null,
    });
  });

  test('a person is invited, and sets their own password', async () => {
    await run('team', 'create', 'North');
    const words = ['user', 'create', 'ada@example.org', '--role', 'viewer', '--team', 'North', '--invite'];
    const { stdout } = await run(...words);
    expect(stdout).toMatch(
      /^invitation of ada@example\.org, viewer: \S+\nhttp:\S+\/invitation\/\w{40}\nValid for this person until .*Z\.\n/,
    );
    expect(await run(...words, '--without-consent')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exclude each other') as string,
    });
    expect(await run(...words, '--password-file', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be used with') as string,
    });
    expect(await run(...words, '--invite=yes')).toMatchObject({ code: 2 });
    expect((await run('user', 'create', '--help')).stdout).toContain('--without-consent ');
  });

  test('a key that is revoked stops working at once, also for a server that is running', async () => {
    await run('team', 'create', 'North');
    await withAuth(async (auth) => {
      const key = await json('key', 'create', '--team', 'North', '--name', 'demo');
      expect(await auth.authenticateApiKey(String(key['api_key']))).toBeDefined();
      expect(await json('key', 'revoke', String(key['id']))).toEqual({ id: key['id'], revoked: true });
      expect(await auth.authenticateApiKey(String(key['api_key']))).toBeUndefined();
    });
    expect(await run('key', 'revoke', '01890a5d-ac96-774b-bcce-b302099a8057')).toMatchObject({ code: 1 });
  });

  test('export and import, and the second import is refused', async () => {
    await run('team', 'create', 'North');
    const file = path.join(folder, 'all.jsonl');
    // The team and its four topics.
    expect(await json('export', file)).toMatchObject({ rows: 5 });
    const other = await kind.create();
    expect(await runWith(other.url, ['import', file])).toMatchObject({ code: 0, stdout: `5 rows read from ${file}\n` });
    expect(await runWith(other.url, ['import', file])).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty') as string });
    await other.remove();
  });

  test.each([
    [['team', 'create', 'North'], 'already exists'],
    [['key', 'create', '--team', 'South', '--name', 'x'], 'team South not found'],
    [['enrol-token', 'create', '--team', 'North', '--site', 'Depot'], 'site Depot not found'],
    [['user', 'create', 'nobody', '--team', 'North', '--role', 'admin'], 'email'],
    [['import', '/no/such/file'], 'not empty'],
  ])('what fails says why and ends with 1: %j', async (words, reason) => {
    await run('team', 'create', 'North');
    expect(await run(...words, '--json')).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) as string });
  });
});

describe('signalbox', () => {
  const run = (...words: string[]): Promise<Ran> => runWith('sqlite::memory:', words);

  test.each([
    [[], 'Commands:'],
    [['frobnicate'], 'unknown command: frobnicate'],
    [['team'], 'team needs a command\n\nUsage: signalbox team COMMAND [ARGUMENTS]\n\nCommands:\n  team create '],
    [['team', '--json'], 'team needs a command\n\nUsage: signalbox team COMMAND [ARGUMENTS]\n\nCommands:\n  team create '],
    [['team', 'destroy'], 'unknown command: team destroy\n\nUsage: signalbox team COMMAND [ARGUMENTS]\n\nCommands:\n  team create '],
    [['team', 'create'], 'NAME is missing'],
    [['team', 'create', 'a', 'b'], 'unexpected argument: b'],
    [['team', 'create', 'a', '--colour', 'red'], '--colour'],
    [['key', 'create', '--name', 'x'], '--team is missing'],
    [['key', 'create', '--team', 'a', '--name', 'x', '--role', 'king'], 'viewer, operator, admin'],
    [['site', 'create', 'a', '--team', 'a', '--latitude', 'north'], '--latitude must be a number'],
    [['serve', 'now'], 'unexpected argument: now'],
  ])('a wrong command line shows the usage and ends with 2: %j', async (words, reason) => {
    const { code, stdout, stderr } = await run(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('Usage: signalbox');
  });

  test.each([['--version'], ['-V']])('%s names the version', async (word) => {
    expect(await run(word)).toEqual({ code: 0, stdout: `signalbox ${SERVER_VERSION}\n`, stderr: '' });
  });

  test.each([[['--help']], [['help']], [['serve', '--help']], [['key', '--help']], [['key', 'create', '--help']], [['import', '-h']]])(
    'help goes to standard output: %j',
    async (words) => {
      expect(await run(...words)).toEqual({ code: 0, stdout: expect.stringContaining('Usage: signalbox') as string, stderr: '' });
    },
  );

  test('mistakes in the settings are all named', async () => {
    const lines: string[] = [];
    const code = await runCli(['team', 'create', 'x'], {
      stdout: () => undefined,
      stderr: (text) => void lines.push(text),
      env: { SIGNALBOX_LISTEN: 'nowhere', SIGNALBOX_TYPO: '1' },
    });
    expect(code).toBe(1);
    expect(lines.join('')).toMatch(/SIGNALBOX_LISTEN[^]*SIGNALBOX_TYPO/);
  });

  test('as a program, with nothing but its JSON on standard output', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-cli-'));
    const env = { ...process.env, SIGNALBOX_DATABASE_URL: `sqlite:${folder}/data/box.db` };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['server/main.ts', 'team', 'create', 'North', '--json'], {
      env,
    });
    expect(JSON.parse(stdout)).toMatchObject({ name: 'North' });
    expect(stderr).toBe('');
    expect((await readFile(`${folder}/data/box.db`)).subarray(0, 6).toString()).toBe('SQLite');
    await rm(folder, { recursive: true });
  });
});
