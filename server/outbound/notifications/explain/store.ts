import type { DbOrTx } from '../../../platform/storage/db.ts';

export { selectTargetNames } from '../log/messages/store.ts';
export { selectGroupNames } from '../log/threads/store.ts';
export { selectSilenced } from '../silences/store.ts';
export { selectListeners, selectPlaces } from '../threads/routing/store.ts';

/** The agent of a router; undefined when the team has no such router. */
export async function selectAgentOf(db: DbOrTx, teamId: string, routerId: string): Promise<{ agentId: string } | undefined> {
  const row = await db
    .selectFrom('routers')
    .select('agent_id')
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return row && { agentId: row.agent_id };
}
