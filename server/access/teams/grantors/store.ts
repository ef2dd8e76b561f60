import { readRole } from '../../../platform/core/principal.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Grantor, KnownGrantor } from './types.ts';

/** The current role of a grantor in this team: what they granted is limited to it. */
export async function selectGrantor(db: DbOrTx, teamId: string, { kind, id }: Grantor, now: number): Promise<KnownGrantor> {
  if (kind === 'operator' || id === null) return { kind: 'operator', id: null, name: null, role: 'admin' };
  return kind === 'user' ? userGrantor(db, teamId, id) : keyGrantor(db, teamId, id, now);
}

async function userGrantor(db: DbOrTx, teamId: string, id: string): Promise<KnownGrantor> {
  const row = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.email', 'members.role', 'members.active'])
    .where('members.team_id', '=', teamId)
    .where('members.user_id', '=', id)
    .executeTakeFirst();
  return { kind: 'user', id, name: row?.email ?? null, role: row?.active === 1 ? readRole(row.role) : null };
}

async function keyGrantor(db: DbOrTx, teamId: string, id: string, now: number): Promise<KnownGrantor> {
  const row = await db
    .selectFrom('api_keys')
    .select(['name', 'role', 'revoked_at', 'expires_at'])
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .executeTakeFirst();
  const isOver = (at: number | null | undefined): boolean => typeof at === 'number' && at <= now;
  const role = !row || isOver(row.revoked_at) || isOver(row.expires_at) ? null : readRole(row.role);
  return { kind: 'api_key', id, name: row?.name ?? null, role };
}
