import { sql } from 'kysely';
import { AppError } from '../core/errors.ts';
import { capabilities } from './capabilities.ts';
import type { Storage, Tx } from './db.ts';
import { migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/types.ts';

type Migratable = Pick<Storage, 'db' | 'engine'>;

/** The schema of this program. */
export function programSchema(migrations: readonly Migration[] = released): number {
  return migrations.at(-1)?.number ?? 0;
}

/**
 * Migrates the database to this program's schema, in one transaction. Safe when several programs start at once;
 * without effect on an up-to-date database.
 * @returns the numbers of the steps taken
 * @throws AppError `conflict` for a database that a newer program has migrated
 */
export async function migrate(storage: Migratable, migrations: readonly Migration[] = released): Promise<number[]> {
  return storage.db.transaction().execute(async (tx) => {
    for (const statement of capabilities[storage.engine].migrationLock) await sql.raw(statement).execute(tx);
    const current = await readSchemaNumber(tx, storage);
    refuseNewer(current, programSchema(migrations));
    const due = migrations.filter((migration) => migration.number > current);
    for (const migration of due) await take(tx, migration, storage);
    return due.map((migration) => migration.number);
  });
}

async function readSchemaNumber(tx: Tx, { engine }: Migratable): Promise<number> {
  const { text } = capabilities[engine];
  await sql.raw(`create table if not exists schema_migrations (number integer primary key, name ${text} not null)`).execute(tx);
  const { rows } = await sql<{ number: number }>`select coalesce(max(number), 0) as number from schema_migrations`.execute(tx);
  return rows[0]?.number ?? 0;
}

function refuseNewer(current: number, known: number): void {
  if (current <= known) return;
  throw new AppError(
    'conflict',
    `the database has schema ${current}, this program knows schemas up to ${known}: ` +
      'start the newer Signalbox that migrated it, or restore the copy made before that',
  );
}

async function take(tx: Tx, migration: Migration, { engine }: Migratable): Promise<void> {
  for (const statement of migration.statements(engine)) await sql.raw(statement).execute(tx);
  await sql`insert into schema_migrations (number, name) values (${migration.number}, ${migration.name})`.execute(tx);
}
