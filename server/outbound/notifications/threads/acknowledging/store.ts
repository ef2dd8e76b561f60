import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { ThreadRow } from '../types.ts';

export { lockTeam, updateThread } from '../routing/store.ts';

export async function selectThread(db: DbOrTx, teamId: string, id: string): Promise<ThreadRow | undefined> {
  return db.selectFrom('threads').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}
