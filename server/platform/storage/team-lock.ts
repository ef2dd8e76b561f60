import type { Tx } from './db.ts';

/**
 * Serialises transactions of one team, so that a count stays true until the write that depends on it. SQLite has one writer
 * anyway; on PostgreSQL an update without a change locks the team's row.
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<void> {
  await tx
    .updateTable('teams')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', teamId)
    .execute();
}
