import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** What goes into the package, and what builds it. A copy, because other tests build in the checkout's `dist` at the same time. */
const PARTS = [
  'agent',
  'bin',
  'client',
  'console',
  'package-lock.json',
  'package.json',
  'protocol',
  'routeros-text',
  'runtime',
  'scripts',
  'server',
  'systemd',
  'tsconfig.json',
  'LICENSE',
  'README.md',
];
const INSTALL_MS = 100_000;
/** npm's words for a registry that cannot be reached. */
const UNREACHABLE = /\b(?:ENOTCACHED|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;

/** The machine's own programs, without those of any node_modules. */
export const SYSTEM_PATH = [...new Set([...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/local/bin', '/usr/bin', '/bin'])]
  .filter((folder) => folder !== '' && !folder.includes('node_modules'))
  .join(path.delimiter);

/** The package as a user has it: packed here, installed by `npm install --global` into an empty folder. */
export class Packaged {
  /** Holds everything; removed at the end. */
  readonly folder: string;
  readonly #children: ChildProcess[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @returns undefined when npm cannot reach its registry, and has not kept the packages either */
  static async install(): Promise<Packaged | undefined> {
    const packaged = new Packaged(await mkdtemp(path.join(os.tmpdir(), 'signalbox-package-')));
    if (await packaged.#install(await packaged.#pack())) return packaged;
    await packaged.close();
    return undefined;
  }

  get prefix(): string {
    return path.join(this.folder, 'prefix');
  }

  /** Where npm has put the package. */
  get installed(): string {
    return path.join(this.prefix, 'lib', 'node_modules', 'signalbox');
  }

  /** Runs one of its commands to its end. @throws Error with its output when it fails */
  async run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const program = path.join(this.prefix, 'bin', command);
    const { stdout } = await promisify(execFile)(program, args, { env: this.#env(env), cwd: this.folder, timeout: 60_000 });
    return stdout;
  }

  /** Starts one of its commands, which `close` kills at the latest. */
  start(command: string, args: string[], env: Record<string, string> = {}): ChildProcess {
    const program = path.join(this.prefix, 'bin', command);
    const child = spawn(program, args, { env: this.#env(env), cwd: this.folder, stdio: 'ignore', detached: true });
    this.#children.push(child);
    return child;
  }

  async close(): Promise<void> {
    for (const { pid } of this.#children) killGroup(pid);
    await rm(this.folder, { recursive: true, force: true });
  }

  #env(env: Record<string, string>): NodeJS.ProcessEnv {
    return { HOME: this.folder, PATH: SYSTEM_PATH, ...env };
  }

  async #pack(): Promise<string> {
    const source = path.join(this.folder, 'source');
    for (const part of PARTS) await cp(path.join(root, part), path.join(source, part), { recursive: true });
    await symlink(path.join(root, 'node_modules'), path.join(source, 'node_modules'));
    const options = { cwd: source, timeout: INSTALL_MS };
    await promisify(execFile)(process.execPath, [path.join(source, 'scripts/build-package.ts')], options);
    // What `prepack` would do is done.
    const { stdout } = await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--json'], options);
    const [packed] = JSON.parse(stdout) as [{ filename: string }];
    return path.join(source, packed.filename);
  }

  async #install(file: string): Promise<boolean> {
    await mkdir(this.prefix);
    const args = ['install', '--global', '--prefix', this.prefix, '--prefer-offline', '--no-audit', '--no-fund', file];
    try {
      // With the caller's settings of npm: where its registry and its cache are.
      await promisify(execFile)('npm', args, { cwd: this.folder, timeout: INSTALL_MS, env: { ...process.env, PATH: SYSTEM_PATH } });
      return true;
    } catch (error) {
      if (UNREACHABLE.test(String((error as { stderr?: unknown }).stderr))) return false;
      throw error;
    }
  }
}

/** Under an older Node a command starts the packaged one as its child, which a signal to the command alone would leave behind. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
