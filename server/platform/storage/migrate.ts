import { sql } from 'kysely';
import { AppError } from '../core/errors.ts';
import { capabilities } from './capabilities.ts';
import type { DbOrTx, Storage, Tx } from './db.ts';
import { demandOf, oldestProgram, refuseOlderMembers } from './oldest-program.ts';
import { migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/types.ts';

type Migratable = Pick<Storage, 'db' | 'engine'>;

/** The newest schema that this program knows. */
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
    await refuseNewer(tx, current, programSchema(migrations));
    const due = migrations.filter((migration) => migration.number > current);
    if (due.length > 0 && current > 0) {
      // Nobody enters before the end of this transaction: who does then reads what it demands.
      for (const statement of capabilities[storage.engine].nodesLock) await sql.raw(statement).execute(tx);
      await refuseOlderMembers(tx, due, current);
    }
    for (const migration of due) await take(tx, migration, storage);
    return due.map((migration) => migration.number);
  });
}

/** @returns the schema that every program must know once this program has migrated the database; 0 when older ones may go on beside it */
export async function demandOfMigration({ db }: Migratable): Promise<number> {
  const current = await schemaOf(db);
  return demandOf(released.filter(({ number }) => number > current));
}

async function readSchemaNumber(tx: Tx, { engine }: Migratable): Promise<number> {
  const { text } = capabilities[engine];
  await sql.raw(`create table if not exists schema_migrations (number integer primary key, name ${text} not null)`).execute(tx);
  return schemaOf(tx);
}

/** The schema of a database that has one. */
export async function schemaOf(db: DbOrTx): Promise<number> {
  const { rows } = await sql<{ number: number }>`select coalesce(max(number), 0) as number from schema_migrations`.execute(db);
  return rows[0]?.number ?? 0;
}

/** @throws AppError `conflict` for a database that a newer program has migrated, and on which this one cannot run */
export async function refuseNewer(db: DbOrTx, current: number, known: number): Promise<void> {
  if (current <= known || (await oldestProgram(db, current)) <= known) return;
  throw new AppError(
    'conflict',
    `the database has schema ${current}, this program knows schemas up to ${known}: ` +
      'start the newer Signalbox that migrated it, or restore the copy made before that',
  );
}

async function take(tx: Tx, migration: Migration, { engine }: Migratable): Promise<void> {
  for (const statement of migration.statements(engine)) await sql.raw(statement).execute(tx);
  const { number, name, expands } = migration;
  await sql`insert into schema_migrations (number, name) values (${number}, ${name})`.execute(tx);
  if (expands) await sql`update schema_migrations set oldest_program = 0 where number = ${number}`.execute(tx);
}
