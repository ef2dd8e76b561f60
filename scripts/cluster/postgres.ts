import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Program } from '../demo/children.ts';

const run = promisify(execFile);

/** Connections of three nodes (10 each and one for their beat), of the command line, and of whoever looks. */
const CONNECTIONS = 100;

export interface PostgresOptions {
  /** Folder of the server's programs. */
  bin: string;
  /** Its data go to a folder in it. */
  folder: string;
  port: number;
  password: string;
}

/** A PostgreSQL server with data of its own, on loopback, with a password. */
export class Postgres {
  readonly url: string;
  readonly program: Program;
  readonly #remove: () => Promise<void>;

  private constructor(parts: { url: string; program: Program; remove: () => Promise<void> }) {
    this.url = parts.url;
    this.program = parts.program;
    this.#remove = parts.remove;
  }

  /** Makes the data folder. The caller starts the program. */
  static async prepare({ bin, folder, port, password }: PostgresOptions): Promise<Postgres> {
    const user = await serverUser();
    const place = await placeFor(folder, user);
    const data = path.join(place.folder, 'data');
    const passwordFile = path.join(place.folder, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user) await chown(passwordFile, user.uid, user.gid);
    const access = ['-U', 'signalbox', `--pwfile=${passwordFile}`, '-A', 'scram-sha-256'];
    const locale = ['-E', 'UTF8', '--locale=C.UTF-8'];
    const initdb = [path.join(bin, 'initdb'), '-D', data, '--no-sync', ...access, ...locale];
    // '/': the server's user may not enter the present folder.
    await run('setpriv', ['--pdeathsig', 'SIGINT', ...(user?.words ?? []), ...initdb], { cwd: '/' });
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      // Its name would be too long for a socket in many folders.
      'unix_socket_directories=',
      `max_connections=${CONNECTIONS}`,
      'shared_buffers=64MB',
    ];
    return new Postgres({
      url: postgresUrl(port, password),
      program: {
        name: 'postgresql',
        command: [...(user?.words ?? []), path.join(bin, 'postgres'), '-D', data, ...settings.flatMap((it) => ['-c', it])],
        // Ends without waiting for clients to leave.
        stopSignal: 'SIGINT',
        ifItEnds: 'restart',
      },
      remove: place.remove,
    });
  }

  async isReady(): Promise<boolean> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 2000 });
    try {
      await client.connect();
      return true;
    } finally {
      await client.end();
    }
  }

  /** To be called after its end. Its data stay, unless they are outside of the demonstration's folder. */
  async close(): Promise<void> {
    await this.#remove();
  }
}

export function postgresUrl(port: number, password: string): string {
  return `postgres://signalbox:${password}@127.0.0.1:${port}/postgres`;
}

interface ServerUser {
  uid: number;
  gid: number;
  /** For setpriv. */
  words: string[];
}

/** The server refuses to run as root: then it runs as the user that the package has made. */
async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'postgres'])).stdout)));
  return { uid: uid!, gid: gid!, words: [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'] };
}

/** In the demonstration's folder; outside, and removed at the end, where that user may not enter the clone: root's home, for example. */
async function placeFor(folder: string, user: ServerUser | undefined): Promise<{ folder: string; remove: () => Promise<void> }> {
  const own = path.join(folder, 'postgresql');
  await mkdir(own, { mode: 0o700 });
  if (!user) return { folder: own, remove: () => Promise.resolve() };
  await chown(own, user.uid, user.gid);
  if (await mayEnter(user, own)) return { folder: own, remove: () => Promise.resolve() };
  const other = await mkdtemp(path.join(os.tmpdir(), 'signalbox-postgresql-'));
  await chmod(other, 0o700);
  await chown(other, user.uid, user.gid);
  return { folder: other, remove: () => rm(other, { recursive: true, force: true }) };
}

async function mayEnter({ words }: ServerUser, folder: string): Promise<boolean> {
  try {
    await run('setpriv', [...words, 'test', '-x', folder], { cwd: '/' });
    return true;
  } catch {
    return false;
  }
}
