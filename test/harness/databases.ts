import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, inject } from 'vitest';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { copyMigratedSqlite } from './migrated-templates.ts';
import { PgliteShelf } from './pglite.ts';
import { postgresUrl } from './postgres-server.ts';
import { PostgresShelf } from './postgres-shelf.ts';
import { silentLog } from './silent-log.ts';

/** An empty database of its own. */
export interface TestDatabase {
  url: string;
  remove(): Promise<void>;
}

/** One kind of database that a suite runs on. */
export interface DatabaseKind {
  /** As shown in test names: `SQLite`, `PostgreSQL` or, where no server is installed, `PGlite`. */
  name: string;
  create(): Promise<TestDatabase>;
  /** With all tables and no rows. */
  createMigrated(): Promise<TestDatabase>;
}

async function createSqlite(): Promise<TestDatabase & { file: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-db-'));
  const file = path.join(folder, 'test.db');
  return { file, url: `sqlite:${file}`, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function createMigratedSqlite(): Promise<TestDatabase> {
  const database = await createSqlite();
  await copyMigratedSqlite(database.file);
  return database;
}

/** Folder of the socket of this run's PostgreSQL server, which starts when it is first asked for. */
export async function askForServer(port: number): Promise<string> {
  return (await askForFolders(port)).socketFolder;
}

/** The server's, and the one through which the product reaches it: PgBouncer's with `TEST_PGBOUNCER=1`. */
async function askForFolders(port: number): Promise<{ socketFolder: string; productFolder: string }> {
  const reply = JSON.parse(await text(net.connect(port, '127.0.0.1'))) as { socketFolder?: string; poolerFolder?: string; error?: string };
  if (reply.socketFolder === undefined) throw new Error(reply.error ?? 'no PostgreSQL server');
  return { socketFolder: reply.socketFolder, productFolder: reply.poolerFolder ?? reply.socketFolder };
}

async function createPostgres(): Promise<TestDatabase> {
  const { socketFolder, productFolder } = await askForFolders(inject('postgresPort'));
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = new Client({ connectionString: postgresUrl(socketFolder, 'postgres') });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  // The server's data folder goes with the server.
  return { url: postgresUrl(productFolder, name), remove: () => Promise.resolve() };
}

async function createMigratedPostgres(): Promise<TestDatabase> {
  const { socketFolder, productFolder } = await askForFolders(inject('postgresPort'));
  const database = await new PostgresShelf(inject('runFolder'), socketFolder).take();
  return { ...database, url: database.url.replace(encodeURIComponent(socketFolder), encodeURIComponent(productFolder)) };
}

async function createMigratedPglite(): Promise<TestDatabase> {
  const database = await pglites.take();
  const storage = await openStorage(database.url, { log: silentLog });
  await migrate(storage);
  await storage.close();
  return database;
}

// Modules are loaded anew for each test file, so this is the file's own.
const pglites = new PgliteShelf();
afterAll(() => pglites.close());

/** The databases of this run: always SQLite, and PostgreSQL as a real server where Debian's binaries are installed. */
export function databaseKinds(): DatabaseKind[] {
  const sqlite = { name: 'SQLite', create: createSqlite, createMigrated: createMigratedSqlite };
  if (inject('postgresPort') === 0) {
    return [sqlite, { name: 'PGlite', create: () => pglites.take(), createMigrated: createMigratedPglite }];
  }
  return [sqlite, { name: 'PostgreSQL', create: createPostgres, createMigrated: createMigratedPostgres }];
}

/**
 * Runs one suite on every kind of database. `open` gives a migrated, empty database of its own; what is opened in a
 * test or `beforeEach` is closed after that test, what is opened in `beforeAll` after the suite.
 */
export function describeEachDatabase(name: string, suite: (open: () => Promise<Storage>, kind: DatabaseKind) => void): void {
  describe.each(databaseKinds())(`${name} on $name`, (kind) => {
    const ofTest: (() => Promise<void>)[] = [];
    const ofSuite: (() => Promise<void>)[] = [];
    // Told by hooks: the name of the last test stays behind while the next suite begins.
    let isInTest = false;
    beforeEach(() => {
      isInTest = true;
    });
    const open = async (): Promise<Storage> => {
      const { storage, close } = await openTestStorage(kind);
      const list = isInTest ? ofTest : ofSuite;
      list.push(close);
      return storage;
    };
    afterEach(async () => {
      isInTest = false;
      await closeAll(ofTest);
    });
    afterAll(() => closeAll(ofSuite));
    suite(open, kind);
  });
}

async function openTestStorage(kind: DatabaseKind): Promise<{ storage: Storage; close: () => Promise<void> }> {
  const database = await kind.createMigrated();
  const storage = await openStorage(database.url, { log: silentLog });
  const close = async (): Promise<void> => {
    await storage.close();
    await database.remove();
  };
  return { storage, close };
}

async function closeAll(closers: (() => Promise<void>)[]): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
