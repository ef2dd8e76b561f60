import { createHash, randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type SimulatedRouter, type Simulator } from '../simulator/index.ts';
import { createEd25519Pair } from '../simulator/ssh/host-key.ts';
import { OpenSsh, type Login } from './openssh-client.ts';

const ed25519 = createEd25519Pair();
const rsa = ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 });
const withPassword: Login = { user: 'admin', password: 'se cret' };

let router: SimulatedRouter;
let simulator: Simulator;
let client: OpenSsh;
let target: Server;
let received: (socket: Socket) => void = (socket) => socket.end();

beforeAll(async () => {
  target = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    received(socket);
  });
  await new Promise<void>((resolve) => {
    target.listen(0, '127.0.0.1', resolve);
  });
});

afterAll(() => {
  target.close();
});

function allowForwards(value: string): void {
  const table = router.table('/ip/ssh');
  const [item] = table.items;
  if (item !== undefined) table.update(item, [['forwarding-enabled', value]]);
}

function targetPort(): number {
  return (target.address() as AddressInfo).port;
}

// Ed25519 keys of users are known from 7.12, and from 7.8 an error says where it was.
describe.each([
  { version: '7.18.2', key: ed25519, place: ' (:error; line 1)' },
  { version: '6.49.18', key: rsa, place: '' },
])('RouterOS $version', ({ version, key, place }) => {
  const withKey: Login = { user: 'keyed', key: key.private };

  beforeEach(async () => {
    simulator = await startSimulator({
      version,
      identity: 'Büro',
      apiPort: null,
      users: [
        { name: 'admin', password: 'se cret' },
        { name: 'keyed', password: 'se cret', publicKeys: [key.public] },
        { name: 'noftp', password: 'se cret', group: 'plain' },
        { name: 'api', password: 'se cret', group: 'apionly' },
      ],
      groups: { plain: ['ssh', 'read', 'write', 'test'], apionly: ['api', 'read'] },
    });
    router = simulator.router;
    client = new OpenSsh(simulator.sshPort);
  });

  afterEach(async () => {
    await simulator.close();
    client[Symbol.dispose]();
  });

  test.each([
    ['a key', withKey],
    ['a password', withPassword],
    ['a keyboard-interactive password', { ...withPassword, method: 'keyboard-interactive' as const }],
    ['a terminal suffix', { ...withPassword, user: 'admin+cet512w' }],
  ])('ssh logs in with %s and runs a line', async (_name, login) => {
    const { code, stdout, stderr } = await client.ssh(login, [':put "hello"; /system identity print']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `hello\r\n  name: ${Buffer.from('Büro').toString('latin1')}\r\n`,
      stderr: '',
    });
  });

  test('errors are on standard output, and the exit status is 0 all the same', async () => {
    expect(await client.ssh(withPassword, ['/nosuch'])).toEqual({
      code: 0,
      stdout: 'bad command name nosuch (line 1 column 2)\r\n',
      stderr: '',
    });
    expect(await client.ssh(withPassword, [':put a; :error "no luck"'])).toEqual({
      code: 0,
      stdout: `a\r\nno luck${place}\r\n`,
      stderr: '',
    });
  });

  test.each([
    ['a wrong password', { user: 'admin', password: 'wrong' }],
    ['a password of a user who has a key', { user: 'keyed', password: 'se cret' }],
    ['a user without the ssh policy', { user: 'api', password: 'se cret' }],
    ['a key nobody imported', { user: 'keyed', key: createEd25519Pair().private }],
  ])('ssh is refused with %s', async (_name, login) => {
    const { code, stderr } = await client.ssh(login, [':put x']);
    expect(code).toBe(255);
    expect(stderr).toContain('Permission denied');
  });

  test('the fingerprint is the one ssh-keyscan sees', async () => {
    await client.ssh(withPassword, [':put x']);
    const known = spawnSync('ssh-keygen', ['-l', '-f', join(client.directory, 'known')]);
    expect(known.stdout.toString()).toContain(simulator.sshFingerprint);
  });

  /** What a shell on a terminal showed for these keys, and without its colours. */
  async function typed(keys: string, login = withPassword): Promise<{ code: number | null; shown: string; plain: string }> {
    const { code, stdout } = await client.sshWith(login, ['-tt'], keys);
    const shown = Buffer.from(stdout, 'latin1').toString();
    return { code, shown, plain: shown.replaceAll(/\p{Cc}\[[0-9;]*[A-Za-z]/gu, '') };
  }

  test('a shell without a terminal prompts, echoes and runs lines until quit', async () => {
    const { code, stdout } = await client.sshWith(withPassword, ['-T'], ':put hello\r/quit\r');
    expect(code).toBe(0);
    expect(Buffer.from(stdout, 'latin1').toString()).toBe('[admin@Büro] > :put hello\r\nhello\r\n[admin@Büro] > /quit\r\n');
  });

  test('a terminal has a banner, a coloured prompt and an echo, until quit', async () => {
    const { code, shown, plain } = await typed(':put hello\rquit\r');
    expect(code).toBe(0);
    expect(plain).toContain(`MikroTik RouterOS ${version} `);
    expect(plain.endsWith('[admin@Büro] > :put hello\r\nhello\r\n\r[admin@Büro] > quit\r\n')).toBe(true);
    expect(shown).toContain('\u001b[36mBüro\u001b[m');
  });

  test('a login with +c has no colours', async () => {
    const { shown } = await typed('quit\r', { ...withPassword, user: `${withPassword.user}+c` });
    expect(shown).toContain('[admin@Büro] > ');
    expect(shown).not.toContain('\u001b[3');
  });

  test('lines are edited, and come back from the history', async () => {
    const left = '\u001b[D';
    const { plain } = await typed(`:put he${left}X\u007fY\r\u001b[A\u0015:put b\r\u001b[A\u001b[A\u001b[B\u0005c\rquit\r`);
    // Without quotes a word is a variable that does not exist, or text: what counts is the line that was run.
    expect(plain).toContain(':put hYe\r\n');
    expect(plain).toContain(':put b\r\n');
    expect(plain).toContain(':put bc\r\n');
  });

  test('Tab completes menus, commands and parameters, and lists what is possible', async () => {
    const { plain } = await typed('/ip addr\t\tpri\t\r/ip address add addr\t\u0003/sys\t\u0003/i\t\t\u0003quit\r');
    expect(plain).toContain('/ip address ');
    expect(plain).toContain('print ');
    expect(plain).toContain('/ip address add address=');
    expect(plain).toContain('/system ');
    expect(plain).toMatch(/\r\nimport +interface +ip/);
  });

  test('a menu becomes the place of the next lines, and .. leads back', async () => {
    const { plain } = await typed('/ip address\rprint\r..\r/\rquit\r');
    expect(plain).toContain(version.startsWith('6.') ? '[admin@Büro] /ip address> ' : '[admin@Büro] /ip/address> ');
    expect(plain).toMatch(/ADDRESS/);
    expect(plain).toContain('[admin@Büro] /ip> ');
  });

  test('a forward carries megabytes each way and keeps the half-open end', async () => {
    allowForwards('local');
    const [up, down] = [randomBytes(5 * 1024 * 1024), randomBytes(4 * 1024 * 1024)];
    let digest = '';
    received = (socket) => {
      const hash = createHash('sha256');
      socket.on('data', (chunk) => hash.update(chunk));
      // Answers only after the client's end arrived: without half-close nothing would come back.
      socket.on('end', () => {
        digest = hash.digest('hex');
        socket.end(down);
      });
    };
    const { code, stdout } = await client.sshWith(withPassword, ['-W', `127.0.0.1:${targetPort()}`], up);
    expect(code).toBe(0);
    expect(digest).toBe(createHash('sha256').update(up).digest('hex'));
    expect(Buffer.from(stdout, 'latin1').equals(down)).toBe(true);
  });

  test('a target that ends first still gets what the client sends after', async () => {
    allowForwards('both');
    const up = randomBytes(3 * 1024 * 1024);
    const complete = new Promise<Buffer>((resolve) => {
      received = (socket) => {
        const chunks: Buffer[] = [];
        socket.end('early');
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('end', () => resolve(Buffer.concat(chunks)));
      };
    });
    await client.withForward(withPassword, `127.0.0.1:${targetPort()}`, async (path) => {
      const socket = connect({ path, allowHalfOpen: true });
      const [early] = (await once(socket, 'data')) as [Buffer];
      await once(socket, 'end');
      expect(early.toString()).toBe('early');
      socket.end(up);
      expect((await complete).equals(up)).toBe(true);
    });
  });

  test('a target that does not read slows its client down', async () => {
    allowForwards('local');
    const connected = new Promise<Socket>((resolve) => {
      received = (socket) => resolve(socket.pause());
    });
    await client.withForward(withPassword, `127.0.0.1:${targetPort()}`, async (path) => {
      const socket = connect({ path });
      const target = await connected;
      // Windows and socket buffers take a few megabytes; then nothing more goes through.
      const chunk = Buffer.alloc(1024 * 1024);
      let megabytes = 0;
      for (let stuck = 0; stuck < 30 && megabytes < 64; stuck += 1) {
        if (socket.writableLength === 0) {
          socket.write(chunk);
          megabytes += 1;
          stuck = 0;
        }
        await pause(10);
      }
      expect(megabytes).toBeLessThan(64);
      socket.destroy();
      target.destroy();
    });
  });

  test('with forwarding off a forward is administratively prohibited', async () => {
    const { code, stderr } = await client.sshWith(withPassword, ['-o', 'LogLevel=INFO', '-W', `127.0.0.1:${targetPort()}`]);
    expect(code).toBe(255);
    expect(stderr).toContain('administratively prohibited');
  });

  test('a target that cannot be reached is "connect failed", and so is one that is not loopback', async () => {
    allowForwards('local');
    for (const to of ['127.0.0.1:1', '192.0.2.1:80']) {
      const { stderr } = await client.sshWith(withPassword, ['-o', 'LogLevel=INFO', '-W', to]);
      expect(stderr).toContain('connect failed');
    }
  });

  test('sftp puts, lists, renames, gets and removes files', async () => {
    const [local, back] = [join(client.directory, 'local'), join(client.directory, 'back')];
    const contents = randomBytes(300_000);
    writeFileSync(local, contents);
    const { code, stdout, stderr } = await client.sftp(withPassword, [
      `put ${local} first.bin`,
      'ls -l',
      'rename first.bin second.bin',
      `get second.bin ${back}`,
      'rm second.bin',
      'ls',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('first.bin');
    expect(readFileSync(back).equals(contents)).toBe(true);
    expect(router.files.get('second.bin')).toBeUndefined();
  });

  test('an uploaded *.auto.rsc is run on arrival', async () => {
    const local = join(client.directory, 'change');
    writeFileSync(local, '/system identity set name=renamed\n');
    await client.sftp(withPassword, [`put ${local} change.auto.rsc`]);
    await expect.poll(() => router.setting('/system/identity', 'name')).toBe('renamed');
  });

  test('sftp needs the ftp policy, and a backup needs sensitive', async () => {
    router.files.write('x.backup', 'binary');
    expect((await client.sftp({ ...withPassword, user: 'noftp' }, ['ls'])).code).not.toBe(0);
    router.faults.missingPolicies.add('sensitive');
    const { code, stderr } = await client.sftp(withPassword, [`get x.backup ${join(client.directory, 'x')}`]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('Permission denied');
  });

  test('a reboot cuts the session and interrupts its command', async () => {
    const running = client.ssh(withPassword, [':delay 1h']);
    await expect.poll(() => router.executions.containing(':delay 1h').length).toBe(1);
    await simulator.reboot();
    expect((await running).code).toBe(255);
    await expect.poll(() => router.executions.containing(':delay 1h')[0]?.outcome).toBe('interrupted');
    expect(router.sessions.list()).toEqual([]);
  });
});
