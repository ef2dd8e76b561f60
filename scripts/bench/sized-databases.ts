import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { findPostgres, postgresUrl, startPostgres } from '../../test/harness/postgres-server.ts';
import { silentLog } from '../../test/harness/silent-log.ts';

/** A database with all tables and no rows, and how large it is. */
export interface SizedDatabase {
  engine: 'SQLite' | 'PostgreSQL';
  storage: Storage;
  /** Bytes on the disk. */
  size: () => Promise<number>;
}

/** Measures something on SQLite and, where it is installed, on PostgreSQL. @returns what both measured */
export async function onEachDatabase<T>(measure: (database: SizedDatabase) => Promise<T[]>): Promise<T[]> {
  const results = await onSqlite(measure);
  const bin = findPostgres();
  return bin === undefined ? results : [...results, ...(await onPostgres(bin, measure))];
}

async function onSqlite<T>(measure: (database: SizedDatabase) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-size-'));
  const file = path.join(folder, 'size.db');
  try {
    return await withStorage(`sqlite:${file}`, (storage) =>
      measure({
        engine: 'SQLite',
        storage,
        size: async () => {
          // New pages are in a file beside it until somebody asks.
          await sql`pragma wal_checkpoint(truncate)`.execute(storage.db);
          return (await stat(file)).size;
        },
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onPostgres<T>(bin: string, measure: (database: SizedDatabase) => Promise<T>): Promise<T> {
  const server = await startPostgres(bin);
  const bytes = sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`;
  try {
    return await withStorage(postgresUrl(server.socketFolder, 'postgres'), (storage) =>
      measure({ engine: 'PostgreSQL', storage, size: async () => Number((await bytes.execute(storage.db)).rows[0]!.bytes) }),
    );
  } finally {
    await server.stop();
  }
}

async function withStorage<T>(url: string, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(url, { log: silentLog });
  try {
    await migrate(storage);
    return await work(storage);
  } finally {
    await storage.close();
  }
}
