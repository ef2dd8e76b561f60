import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Client } from 'pg';

const run = promisify(execFile);
const DEBIAN_ROOT = '/usr/lib/postgresql';
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;

/** A PostgreSQL server of this test run: temporary, on a Unix socket only, without fsync. */
export interface PostgresServer {
  /** Folder of its socket; `postgres://?host=<it>&user=signalbox` reaches it. */
  socketFolder: string;
  /** Ends it as `pg_ctl stop -m` does; its data stay for {@link resume}. */
  halt(mode: HaltMode): Promise<void>;
  resume(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** `fast` rolls back what is open and ends without waiting for clients to leave; `immediate` is like a crash. */
export type HaltMode = keyof typeof HALT_SIGNAL;
const HALT_SIGNAL = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** Folder of the newest installed server's programs, or undefined. */
export function findPostgres(): string | undefined {
  if (!existsSync(DEBIAN_ROOT)) return undefined;
  const versions = readdirSync(DEBIAN_ROOT).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => path.join(DEBIAN_ROOT, version, 'bin')).find((bin) => existsSync(path.join(bin, 'initdb')));
}

/** Its socket, for whoever stands between it and a client. */
export function postgresSocket(socketFolder: string): string {
  return path.join(socketFolder, '.s.PGSQL.5432');
}

/** The server refuses to run as root; then it runs as the user the package made. It dies with us, whatever ends us. */
export async function unprivileged(): Promise<{ prefix: string[]; uid: number | undefined }> {
  if (process.getuid?.() !== 0) return { prefix: ['--pdeathsig', 'INT'], uid: undefined };
  const { stdout } = await run('id', ['-u', 'postgres']);
  const switchUser = ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig', 'INT'];
  return { prefix: switchUser, uid: Number(stdout) };
}

export function postgresUrl(socketFolder: string, database: string): string {
  return `postgres:///${database}?host=${encodeURIComponent(socketFolder)}&user=signalbox`;
}

async function waitUntilReady(socketFolder: string, exited: () => string | undefined): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const client = new Client({ connectionString: postgresUrl(socketFolder, 'postgres') });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      const reason = exited();
      if (reason !== undefined) throw new Error(`PostgreSQL ended: ${reason}`, { cause: error });
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Makes a data folder and starts a server on it. @param more further settings, `name=value` */
export async function startPostgres(bin: string, more: readonly string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-pg-'));
  const { prefix, uid } = await unprivileged();
  if (uid !== undefined) await chown(folder, uid, uid);
  await chmod(folder, 0o755);
  const data = path.join(folder, 'data');
  // A default collation other than C, so that a forgotten `collate "C"` shows.
  const locale = ['-E', 'UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
  await run('setpriv', [...prefix, path.join(bin, 'initdb'), '-D', data, '--no-sync', '-A', 'trust', '-U', 'signalbox', ...locale], {
    cwd: folder,
  });
  const settings = [
    'listen_addresses=',
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'full_page_writes=off',
    'max_connections=300',
    'shared_buffers=32MB',
    ...more,
  ];
  const command = [...prefix, path.join(bin, 'postgres'), '-D', data, ...settings.flatMap((it) => ['-c', it])];
  let running = runServer(command, folder);
  const stop = async (): Promise<void> => {
    await running.halt('fast');
    await rm(folder, { recursive: true, force: true });
  };
  const ready = (): Promise<void> => waitUntilReady(folder, running.lastWords);
  try {
    await ready();
  } catch (error) {
    await stop();
    throw error;
  }
  const resume = async (): Promise<void> => {
    running = runServer(command, folder);
    await ready();
  };
  return { socketFolder: folder, halt: (mode) => running.halt(mode), resume, stop };
}

interface RunningServer {
  /** What it said before it ended; undefined while it runs. */
  lastWords: () => string | undefined;
  halt: (mode: HaltMode) => Promise<void>;
}

function runServer(command: string[], folder: string): RunningServer {
  const server = spawn('setpriv', command, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let lastWords = '';
  let exit: string | undefined;
  server.stderr.on('data', (chunk: Buffer) => (lastWords = `${lastWords}${chunk.toString()}`.slice(-2000)));
  const ended = new Promise<void>((resolve) => {
    server.on('error', (error) => resolve(void (exit = error.message)));
    server.on('exit', () => resolve(void (exit = lastWords)));
  });
  const halt = async (mode: HaltMode): Promise<void> => {
    server.kill(HALT_SIGNAL[mode]);
    const tooLong = setTimeout(() => server.kill('SIGKILL'), STOP_DEADLINE_MS);
    await ended;
    clearTimeout(tooLong);
  };
  return { lastWords: () => exit, halt };
}
