import type { Tx } from '../../../platform/storage/db.ts';

/** The team's notification groups lose the person by their foreign keys. */
export async function deleteMember(tx: Tx, teamId: string, userId: string): Promise<void> {
  await tx.deleteFrom('members').where('team_id', '=', teamId).where('user_id', '=', userId).execute();
}

/**
 * What the team's clients hold for this person: grants, codes and refresh tokens. A session of the first-party application
 * may serve other teams of the person too, so it stays; in this team it is worth nothing, because members are looked up at every use, and
 * `members.sessions_since` keeps it so once the person is switched on again.
 */
export async function deleteClientRecords(tx: Tx, teamId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('provider_records')
    .where('account_id', '=', userId)
    .where('client_id', 'in', (eb) => eb.selectFrom('clients').select('id').where('team_id', '=', teamId))
    .execute();
}
