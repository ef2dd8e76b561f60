import { sql } from 'kysely';
import { fromFlag, toFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { insertRevocation } from '../../../platform/storage/revocations.ts';

/** The account of one person on this server, in any number of teams. */
export interface Account {
  id: string;
  email: string;
  /** Null for a person who signs in only with the upstream identity provider. */
  passwordHash: string | null;
  /** Sessions from before this time are invalid, milliseconds. */
  passwordSince: number;
  /** True when an administrator was shown this password. */
  isPasswordShared: boolean;
  isInstallationAdmin: boolean;
}

export async function selectAccount(db: DbOrTx, by: { email: string } | { id: string }): Promise<Account | undefined> {
  const query = db.selectFrom('users').select(['id', 'email', 'password_hash', 'sessions_since', 'password_shared', 'installation_admin']);
  const row = await ('id' in by ? query.where('id', '=', by.id) : query.where('email', '=', by.email)).executeTakeFirst();
  if (!row) return undefined;
  const { id, email, password_hash: passwordHash, sessions_since: passwordSince } = row;
  return {
    id,
    email,
    passwordHash,
    passwordSince,
    isPasswordShared: fromFlag(row.password_shared),
    isInstallationAdmin: fromFlag(row.installation_admin),
  };
}

export async function selectHasAccounts(db: DbOrTx): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** False when the address has an account already. */
export async function insertAccount(
  tx: Tx,
  account: { id: string; email: string; passwordHash: string | null; createdAt: number },
): Promise<boolean> {
  const row = await tx
    .insertInto('users')
    .values({ id: account.id, email: account.email, password_hash: account.passwordHash, created_at: account.createdAt })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function setInstallationAdmin(tx: Tx, userId: string, isAdmin: boolean): Promise<void> {
  await tx
    .updateTable('users')
    .set({ installation_admin: toFlag(isAdmin) })
    .where('id', '=', userId)
    .execute();
}

/** Keeps the first time. */
export async function setEmailVerified(db: DbOrTx, email: string, now: number): Promise<void> {
  await db.updateTable('users').set({ email_verified_at: now }).where('email', '=', email).where('email_verified_at', 'is', null).execute();
}

/** Locks the account against changes and new memberships until the transaction ends. */
export async function lockAccount(tx: Tx, userId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set((eb) => ({ email: eb.ref('email') }))
    .where('id', '=', userId)
    .execute();
}

export interface NewPassword {
  userId: string;
  /** Null: from now on only the upstream identity provider signs this person in. */
  passwordHash: string | null;
  /** The current hash, if knowledge of the password allowed the change: it must not have changed since. */
  insteadOf?: string | null;
  now: number;
}

const SECOND_MS = 1000;

/**
 * Ends every session of the person: the provider's records are deleted too. A sign-in within the same second is told apart by
 * `sessions_since`, which rises by at least a second every time, because tokens carry whole seconds.
 * @returns false when the password has changed since
 */
export async function updatePassword(tx: Tx, { userId, passwordHash, insteadOf, now }: NewPassword): Promise<boolean> {
  const since = Math.floor(now / SECOND_MS) * SECOND_MS;
  const row = await tx
    .updateTable('users')
    .set({
      password_hash: passwordHash,
      password_shared: 0,
      sessions_since: sql<number>`case when sessions_since < ${since} then ${since} else sessions_since + ${SECOND_MS} end`,
    })
    .where('id', '=', userId)
    .$if(insteadOf !== undefined, (query) => query.where('password_hash', 'is not distinct from', insteadOf!))
    .returning('id')
    .executeTakeFirst();
  if (!row) return false;
  await tx.deleteFrom('provider_records').where('account_id', '=', userId).execute();
  return true;
}

/**
 * Ends what was opened with the old password in every team of the person, because somebody else may have known it. Inactive
 * memberships have nothing open.
 */
export async function insertPasswordRevocations(tx: Tx, userId: string, now: number): Promise<void> {
  const teams = await tx.selectFrom('members').select('team_id').where('user_id', '=', userId).where('active', '=', 1).execute();
  for (const { team_id: teamId } of teams) await insertRevocation(tx, { teamId, kind: 'password', subjectId: userId, now });
}
