import type { DbOrTx, Tx } from '../../../../platform/storage/db.ts';
import type { Escalation } from '../types.ts';

/** Of all groups of the team that have one, by the group's id. A team has at most 200 groups. */
export async function selectEscalations(db: DbOrTx, teamId: string): Promise<Map<string, Escalation>> {
  const rows = await db
    .selectFrom('group_escalations')
    .select(['group_id', 'next_group_id', 'after_minutes'])
    .where('team_id', '=', teamId)
    .execute();
  return new Map(rows.map((row) => [row.group_id, { afterMinutes: row.after_minutes, to: row.next_group_id }]));
}

/** @throws a foreign key violation when the next group has just been deleted */
export async function replaceEscalation(tx: Tx, { teamId, id }: { teamId: string; id: string }, next: Escalation | null): Promise<void> {
  await tx.deleteFrom('group_escalations').where('team_id', '=', teamId).where('group_id', '=', id).execute();
  if (next === null) return;
  await tx
    .insertInto('group_escalations')
    .values({ group_id: id, team_id: teamId, next_group_id: next.to, after_minutes: next.afterMinutes })
    .execute();
}

/** From this group, and to it. */
export async function deleteEscalations(tx: Tx, teamId: string, groupId: string): Promise<void> {
  await tx
    .deleteFrom('group_escalations')
    .where('team_id', '=', teamId)
    .where((eb) => eb.or([eb('group_id', '=', groupId), eb('next_group_id', '=', groupId)]))
    .execute();
}
