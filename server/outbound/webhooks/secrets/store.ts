import { fromFlag, toFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';

export interface StoredSecret {
  id: string;
  /** Encrypted. */
  secret: string;
  shown: boolean;
  createdAt: number;
  /** Null for the current secret. */
  expiresAt: number | null;
}

/** Secrets of a team that sign at `now`, the current one first. */
export async function selectValidSecrets(db: DbOrTx, teamId: string, now: number): Promise<StoredSecret[]> {
  const rows = await db
    .selectFrom('webhook_secrets')
    .selectAll()
    .where('team_id', '=', teamId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    secret: row.secret,
    shown: fromFlag(row.shown),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

export interface SecretInsert {
  id: string;
  teamId: string;
  secret: string;
  shown: boolean;
  now: number;
}

/** @returns false when the team already has a current one */
export async function insertSecret(db: DbOrTx, { id, teamId, secret, shown, now }: SecretInsert): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhook_secrets')
    .values({ id, team_id: teamId, secret, shown: toFlag(shown), created_at: now, expires_at: null })
    .onConflict((conflict) => conflict.column('team_id').where('expires_at', 'is', null).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Lets the current secret sign until `expiresAt` and deletes earlier ones: two at a time are enough for a rotation. */
export async function retireSecret(db: DbOrTx, teamId: string, expiresAt: number): Promise<void> {
  await db.deleteFrom('webhook_secrets').where('team_id', '=', teamId).where('expires_at', 'is not', null).execute();
  await db
    .updateTable('webhook_secrets')
    .set({ expires_at: expiresAt })
    .where('team_id', '=', teamId)
    .where('expires_at', 'is', null)
    .execute();
}
