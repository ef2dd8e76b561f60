import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const POSTGRES_ROOT = '/usr/lib/postgresql';

export interface Installed {
  /** Folder of the newest PostgreSQL's programs. */
  postgres: string;
  nats: string;
  haproxy: string;
}

/** @throws Error that names the Debian packages that are missing */
export function findInstalled(): Installed {
  const found = { postgresql: findPostgres(), 'nats-server': findProgram('nats-server'), haproxy: findProgram('haproxy') };
  const missing = Object.entries(found)
    .filter(([, place]) => place === undefined)
    .map(([name]) => name);
  if (missing.length > 0) {
    throw new Error(`these Debian packages are missing: ${missing.join(' ')}. Install them: apt-get install ${missing.join(' ')}`);
  }
  return { postgres: found.postgresql!, nats: found['nats-server']!, haproxy: found.haproxy! };
}

/** Folder of the newest installed server's programs, or undefined. */
export function findPostgres(): string | undefined {
  if (!existsSync(POSTGRES_ROOT)) return undefined;
  const versions = readdirSync(POSTGRES_ROOT).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => path.join(POSTGRES_ROOT, version, 'bin')).find((bin) => existsSync(path.join(bin, 'initdb')));
}

/** Servers are in /usr/sbin, which the PATH of ordinary users lacks. */
function findProgram(name: string): string | undefined {
  const folders = ['/usr/sbin', ...(process.env['PATH'] ?? '').split(path.delimiter)];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
