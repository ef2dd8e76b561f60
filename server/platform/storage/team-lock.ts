import type { Tx } from './db.ts';

/**
 * Makes transactions of one team wait for each other until they end: what is counted now stays true until what depends on
 * it is written. SQLite has one writer anyway; PostgreSQL takes the lock of the row, which a change of nothing brings.
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<void> {
  await tx
    .updateTable('teams')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', teamId)
    .execute();
}
