import { readRole } from '../../platform/core/principal.ts';
import { fromFlag } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { SessionHolder } from './types.ts';

/** An active member of the team; undefined for everyone else. */
export async function selectHolder(db: DbOrTx, teamId: string, userId: string): Promise<SessionHolder | undefined> {
  const row = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.role', 'users.sessions_since', 'members.sessions_since as member_since', 'users.installation_admin'])
    .where('members.team_id', '=', teamId)
    .where('members.user_id', '=', userId)
    .where('members.active', '=', 1)
    .executeTakeFirst();
  return (
    row && {
      role: readRole(row.role),
      sessionsSince: Math.max(row.sessions_since, row.member_since),
      isInstallationAdmin: fromFlag(row.installation_admin),
    }
  );
}
