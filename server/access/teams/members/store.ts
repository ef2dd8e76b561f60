import type { Tx } from '../../../platform/storage/db.ts';

/** Foreign keys also remove the person from the team's notification groups. */
export async function deleteMember(tx: Tx, teamId: string, userId: string): Promise<void> {
  await tx.deleteFrom('members').where('team_id', '=', teamId).where('user_id', '=', userId).execute();
}

/**
 * Deletes what the team's clients hold for this person: grants, codes and refresh tokens. A session of the first-party application
 * may also serve other teams of the person, so it stays. It gives no access to this team, because every use checks the membership, and
 * `members.sessions_since` keeps it invalid after the person is reactivated.
 */
export async function deleteClientRecords(tx: Tx, teamId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('provider_records')
    .where('account_id', '=', userId)
    .where('client_id', 'in', (eb) => eb.selectFrom('clients').select('id').where('team_id', '=', teamId))
    .execute();
}
