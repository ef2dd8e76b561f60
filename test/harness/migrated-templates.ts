import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { inject } from 'vitest';
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

let sqlite: Promise<string> | undefined;

/** Two test files that begin together may both make it: they are alike, and the last one stays. */
async function makeSqlite(): Promise<string> {
  const file = path.join(inject('runFolder'), 'migrated.db');
  if (existsSync(file)) return file;
  const draft = path.join(inject('runFolder'), `draft-${randomUUID()}.db`);
  await migrated(`sqlite:${draft}`);
  await rename(draft, file);
  return file;
}

/** Writes a migrated, empty SQLite database to this place. */
export async function copyMigratedSqlite(to: string): Promise<void> {
  sqlite ??= makeSqlite();
  await copyFile(await sqlite, to);
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
    // Nothing is kept of this server, so the checkpoints of this way cost less than the log of the other.
    await admin.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
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
