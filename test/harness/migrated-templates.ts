import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { afterAll } from 'vitest';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { postgresUrl } from './postgres-server.ts';
import { silentLog } from './silent-log.ts';

/**
 * Databases with all tables and no rows, made once and copied: a run opens thousands of them, and the migrations take ten times as long as a
 * copy.
 */

async function migrated(url: string): Promise<void> {
  const storage = await openStorage(url, { log: silentLog });
  try {
    await migrate(storage);
  } finally {
    await storage.close();
  }
}

// Modules are loaded anew for each test file, so this is the file's own.
let sqlite: Promise<{ folder: string; file: string }> | undefined;
afterAll(async () => {
  if (sqlite) await rm((await sqlite).folder, { recursive: true, force: true });
});

async function makeSqlite(): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-template-'));
  const file = path.join(folder, 'migrated.db');
  await migrated(`sqlite:${file}`);
  return { folder, file };
}

/** Writes a migrated, empty SQLite database to this place. */
export async function copyMigratedSqlite(to: string): Promise<void> {
  sqlite ??= makeSqlite();
  await copyFile((await sqlite).file, to);
}

const TEMPLATE = 'signalbox_migrated';
/** Any number that no other lock of the test server has. */
const TEMPLATE_LOCK = 20_260_041;

/** Makes a migrated, empty database on this run's PostgreSQL server. */
export async function copyMigratedPostgres(socketFolder: string, name: string): Promise<void> {
  const admin = new Client({ connectionString: postgresUrl(socketFolder, 'postgres') });
  await admin.connect();
  try {
    await ensureTemplate(admin, socketFolder);
    await admin.query(`create database ${name} template ${TEMPLATE}`);
  } finally {
    await admin.end();
  }
}

/** The first of all test files makes it; the others wait for its lock. */
async function ensureTemplate(admin: Client, socketFolder: string): Promise<void> {
  if (await exists(admin)) return;
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    if (await exists(admin)) return;
    const draft = `${TEMPLATE}_draft`;
    await admin.query(`drop database if exists ${draft}`);
    await admin.query(`create database ${draft}`);
    await migrated(postgresUrl(socketFolder, draft));
    await admin.query(`alter database ${draft} rename to ${TEMPLATE}`);
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}

async function exists(admin: Client): Promise<boolean> {
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
  return rowCount === 1;
}
