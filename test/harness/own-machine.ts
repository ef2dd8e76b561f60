import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** Where root's shell looks for programs on Debian. */
const ROOT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Mounts the root of this machine read-only under a layer in memory, in namespaces of its own, and keeps them. */
const MAKE = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/run"
mkdir -p "$1/root/run/systemd/system"
mount -t tmpfs tmpfs "$1/root/tmp"
echo ready
exec sleep infinity`;

/** Stands for systemd: records each call, and starts a unit's program as the unit's user. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >>/run/systemctl-calls
[ "$1" = restart ] || exit 0
unit=/etc/systemd/system/$2.service
of() { sed -n "s/^$1=//p" "$unit"; }
pid=/run/$2.pid
[ ! -e "$pid" ] || kill "$(cat "$pid")"
rm -f "$pid"
user=$(of User)
install -d -m "$(of StateDirectoryMode)" -o "$user" "/var/lib/$(of StateDirectory)"
as_user="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups env -i PATH=/usr/bin:/bin"
setsid sh -c "echo \\$\\$ >$pid; umask $(of UMask); exec $as_user $(of ExecStart)" >>"/run/$2.log" 2>&1 </dev/null &
# It is away from the caller's terminal, whose end would end it.
while [ ! -s "$pid" ]; do sleep 0.1; done
`;

/** Why this machine cannot make another one; undefined when it can. */
export function whyNoOwnMachine(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  const missing = ['unshare', 'nsenter', 'setpriv', 'useradd'].find((program) => spawnSync('which', [program]).status !== 0);
  if (missing !== undefined) return `${missing} is not installed`;
  const script =
    'mount -t tmpfs t /mnt && mkdir /mnt/u /mnt/w /mnt/r && mount -t overlay o -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r';
  const tried = spawnSync('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', script]);
  return tried.status === 0 ? undefined : 'overlays in a mount namespace are not permitted';
}

export interface Ended {
  code: number;
  output: string;
}

/** This machine again, with its own file tree and processes: what is written there is gone with it. The network is the same. */
export class OwnMachine {
  readonly #folder: string;
  readonly #keeper: ChildProcess;
  readonly #pid: number;

  private constructor(folder: string, keeper: ChildProcess, pid: number) {
    this.#folder = folder;
    this.#keeper = keeper;
    this.#pid = pid;
  }

  /** With Node in `/usr/local/bin`, with the sign of a running systemd (sd_booted(3)), and with a `systemctl` that records its calls and starts units. */
  static async start(): Promise<OwnMachine> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-machine-'));
    const words = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', 'sh', '-c', MAKE, 'sh', folder];
    const keeper = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(keeper.stdout, 'data');
    // The first process of the new namespaces is the only child of `unshare`.
    const children = await readFile(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8');
    const machine = new OwnMachine(folder, keeper, Number(children.trim()));
    await copyFile(process.execPath, machine.file('/usr/local/bin/node'));
    await machine.write('/usr/local/bin/systemctl', SYSTEMCTL, 0o755);
    return machine;
  }

  /** Where a file of it is for this process. */
  file(name: string): string {
    return `/proc/${this.#pid}/root${this.#folder}/root${name}`;
  }

  read(name: string): Promise<string> {
    return readFile(this.file(name), 'utf8');
  }

  write(name: string, text: string, mode = 0o644): Promise<void> {
    return writeFile(this.file(name), text, { mode });
  }

  /** Runs a program there as root. Never rejects. */
  run(program: string, ...args: string[]): Promise<Ended> {
    return this.#run([program, ...args]);
  }

  /** The same on a terminal, at which somebody types these lines. */
  runOnTerminal(command: string, typed: readonly string[]): Promise<Ended> {
    return this.#run(['script', '--quiet', '--return', '--command', command, '/run/typescript'], `${typed.join('\n')}\n`);
  }

  #run(command: readonly string[], typed = ''): Promise<Ended> {
    const words = ['--target', String(this.#pid), '--mount', '--pid', 'chroot', `${this.#folder}/root`, ...command];
    return new Promise((resolve) => {
      const child = execFile('nsenter', words, { env: { PATH: ROOT_PATH, HOME: '/root' }, timeout: 60_000 }, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        resolve({ code, output: stdout + stderr });
      });
      // A program that ends before it has read everything is not wrong.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(typed);
    });
  }

  /** Ends all of its processes. */
  async close(): Promise<void> {
    const ended = once(this.#keeper, 'exit');
    this.#keeper.kill('SIGKILL');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
