import { fromFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Storage, Tx } from '../../../platform/storage/db.ts';
import { selectGrantor } from '../grantors/store.ts';
import type { Grantor, KnownGrantor } from '../grantors/types.ts';

export interface PasswordLink {
  userId: string;
  teamId: string;
  teamName: string;
  email: string;
  isOfInstallationAdmin: boolean;
  issuer: KnownGrantor;
  createdAt: number;
  expiresAt: number;
}

interface NewLink {
  userId: string;
  teamId: string;
  issuer: Grantor;
  codeHash: string;
  createdAt: number;
  expiresAt: number;
}

/** Replaces an earlier link of the person. */
export async function putPasswordLink(tx: Tx, { userId, teamId, issuer, codeHash, createdAt, expiresAt }: NewLink): Promise<void> {
  const values = {
    team_id: teamId,
    issuer_kind: issuer.kind,
    issuer_id: issuer.id,
    code_hash: codeHash,
    created_at: createdAt,
    expires_at: expiresAt,
  };
  await tx
    .insertInto('password_links')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** By the code in the link, which does not contain the team. */
export async function selectPasswordLink(db: DbOrTx, codeHash: string, now: number): Promise<PasswordLink | undefined> {
  const row = await db
    .selectFrom('password_links')
    .innerJoin('users', 'users.id', 'password_links.user_id')
    .innerJoin('teams', 'teams.id', 'password_links.team_id')
    .selectAll('password_links')
    .select(['users.email', 'users.installation_admin', 'teams.name as team_name'])
    .where('password_links.code_hash', '=', codeHash)
    .executeTakeFirst();
  if (!row) return undefined;
  const kind = row.issuer_kind === 'user' || row.issuer_kind === 'api_key' ? row.issuer_kind : 'operator';
  const issuer = await selectGrantor(db, row.team_id, { kind, id: row.issuer_id }, now);
  return {
    userId: row.user_id,
    teamId: row.team_id,
    teamName: row.team_name,
    email: row.email,
    isOfInstallationAdmin: fromFlag(row.installation_admin),
    issuer,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export async function deletePasswordLink(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('password_links').where('user_id', '=', userId).execute();
}

export async function deleteExpiredPasswordLinks(storage: Storage, now: number): Promise<void> {
  await storage.db.deleteFrom('password_links').where('expires_at', '<=', now).execute();
}
