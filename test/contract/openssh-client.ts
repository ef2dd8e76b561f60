import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that has not ended after this is broken, and killed. */
const deadlineMs = 20_000;

/** Real OpenSSH programs with a home of their own: no configuration, known hosts or agent of the machine. */
export class OpenSsh implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'openssh-'));
  private readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  /** Options every call shares. `secret` is a password given through SSH_ASKPASS, or a private key. */
  private options(login: Login): string[] {
    const shared = [
      '-F',
      '/dev/null',
      '-o',
      'StrictHostKeyChecking=no',
      '-o',
      `UserKnownHostsFile=${join(this.directory, 'known')}`,
      '-o',
      `Port=${this.port}`,
      '-o',
      'LogLevel=ERROR',
      '-o',
      'ConnectTimeout=10',
      '-o',
      'IdentityAgent=none',
    ];
    if ('key' in login) return [...shared, '-o', 'BatchMode=yes', '-o', 'IdentitiesOnly=yes', '-i', this.secretFile('key', login.key)];
    return [
      ...shared,
      '-o',
      'PubkeyAuthentication=no',
      '-o',
      `PreferredAuthentications=${login.method ?? 'password'}`,
      '-o',
      'NumberOfPasswordPrompts=1',
    ];
  }

  ssh(login: Login, args: readonly string[], input: Buffer | string = ''): Promise<Finished> {
    return run('ssh', [...this.options(login), `${login.user}@127.0.0.1`, ...args], this.environment(login), input);
  }

  /** `-W target` and the like: options before the host. */
  sshWith(login: Login, options: readonly string[], input: Buffer | string = ''): Promise<Finished> {
    // The first value of an option wins.
    return run('ssh', [...options, ...this.options(login), `${login.user}@127.0.0.1`], this.environment(login), input);
  }

  /** Keeps a forward from a local socket to `target` open until `use` is done with it. */
  async withForward(login: Login, target: string, use: (path: string) => Promise<void>): Promise<void> {
    const path = join(this.directory, 'forward');
    const args = [...this.options(login), '-N', '-L', `${path}:${target}`, `${login.user}@127.0.0.1`];
    const child = spawn('ssh', args, { env: this.environment(login), timeout: deadlineMs, stdio: 'ignore' });
    const ended = new Promise((resolve) => {
      child.once('close', resolve);
    });
    try {
      await waitFor(() => existsSync(path));
      await use(path);
    } finally {
      child.kill();
      await ended;
    }
  }

  /** Runs a batch of sftp commands. */
  sftp(login: Login, batch: readonly string[]): Promise<Finished> {
    // A batch would forbid passwords; here the askpass program answers.
    const batchMode = 'key' in login ? [] : ['-o', 'BatchMode=no'];
    const args = [...batchMode, ...this.options(login), '-b', this.secretFile('batch', `${batch.join('\n')}\n`), `${login.user}@127.0.0.1`];
    return run('sftp', args, this.environment(login), '');
  }

  private environment(login: Login): NodeJS.ProcessEnv {
    const home = { PATH: process.env['PATH'], HOME: this.directory };
    if ('key' in login) return home;
    const script = this.secretFile('askpass', `#!/bin/sh\nprintf '%s\\n' '${login.password}'\n`, 0o700);
    return { ...home, SSH_ASKPASS: script, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' };
  }

  private secretFile(name: string, contents: string, mode = 0o600): string {
    const path = join(this.directory, name);
    writeFileSync(path, contents, { mode });
    chmodSync(path, mode);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export type Login =
  | { readonly user: string; readonly key: string }
  | { readonly user: string; readonly password: string; readonly method?: 'password' | 'keyboard-interactive' };

async function waitFor(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the forward did not come up');
    await pause(20);
  }
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, input: Buffer | string): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, timeout: deadlineMs });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    // A refused client closes its input before it has read it.
    child.stdin.on('error', () => undefined);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout).toString('latin1'), stderr: Buffer.concat(stderr).toString() }),
    );
    child.stdin.end(input);
  });
}
