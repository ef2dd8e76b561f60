import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { postgresUrl, unprivileged } from './postgres-server.ts';
import { waitUntil } from './wait-until.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Debian's pgbouncer is installed. */
export function hasPgBouncer(): boolean {
  return existsSync(PROGRAM);
}

/** PgBouncer in transaction mode in front of a PostgreSQL server, on a Unix socket as that is. It dies with the test run. */
export interface PgBouncer {
  /** Takes the place of the server's in `postgresUrl`. */
  socketFolder: string;
  close: () => Promise<void>;
}

/** @param server the folder of its socket */
export async function startPgBouncer(server: string): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-pgbouncer-'));
  const file = path.join(folder, 'pgbouncer.ini');
  await writeFile(file, `${configuration(server, folder).join('\n')}\n`);
  const { prefix, uid } = await unprivileged();
  if (uid !== undefined) await chown(folder, uid, uid);
  await chmod(folder, 0o755);
  const child = spawn('setpriv', [...prefix, PROGRAM, '-q', file], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2000)));
  await waitUntil('PgBouncer leads to the server', async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
    return answers(folder);
  });
  return {
    socketFolder: folder,
    close: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As docs/cluster.md says. */
function configuration(server: string, folder: string): string[] {
  return [
    '[databases]',
    `* = host=${server} user=signalbox`,
    '[pgbouncer]',
    `unix_socket_dir = ${folder}`,
    'listen_port = 5432',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 10',
    'max_client_conn = 500',
    'server_idle_timeout = 1',
    'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
  ];
}

async function answers(folder: string): Promise<boolean> {
  const client = new Client({ connectionString: postgresUrl(folder, 'postgres') });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
