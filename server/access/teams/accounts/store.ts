import { sql } from 'kysely';
import { fromFlag } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { noteRevocation } from '../../../platform/storage/revocations.ts';

/** An account: one person on this server, whatever teams they are in. */
export interface Account {
  id: string;
  email: string;
  /** Null for somebody who signs in with the identity provider outside only. */
  passwordHash: string | null;
  /** Every session begins after it, milliseconds. */
  passwordSince: number;
  /** An administrator was once shown this password. */
  isPasswordShared: boolean;
}

export async function selectAccount(db: DbOrTx, by: { email: string } | { id: string }): Promise<Account | undefined> {
  const query = db.selectFrom('users').select(['id', 'email', 'password_hash', 'sessions_since', 'password_shared']);
  const row = await ('id' in by ? query.where('id', '=', by.id) : query.where('email', '=', by.email)).executeTakeFirst();
  if (!row) return undefined;
  const { id, email, password_hash: passwordHash, sessions_since: passwordSince } = row;
  return { id, email, passwordHash, passwordSince, isPasswordShared: fromFlag(row.password_shared) };
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

/** Until the transaction ends nobody changes this account or makes it a member of another team. */
export async function lockAccount(tx: Tx, userId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set((eb) => ({ email: eb.ref('email') }))
    .where('id', '=', userId)
    .execute();
}

export interface NewPassword {
  userId: string;
  /** Null: only the identity provider outside signs this person in from now on. */
  passwordHash: string | null;
  /** The present one, if the change was allowed because somebody knew it: it must still be that one. */
  insteadOf?: string | null;
  now: number;
}

const SECOND_MS = 1000;

/**
 * Every session of the person is over: the provider's records go as well, and what begins within this second is told apart by
 * `sessions_since`, which rises by at least a second every time. Tokens carry whole seconds.
 * @returns false when the password is another one by now
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
 * What was opened with the old password ends, in every team of the person: somebody else may have known it. Memberships that are
 * switched off have nothing open.
 */
export async function endWhatWasOpened(tx: Tx, userId: string, now: number): Promise<void> {
  const teams = await tx.selectFrom('members').select('team_id').where('user_id', '=', userId).where('active', '=', 1).execute();
  for (const { team_id: teamId } of teams) await noteRevocation(tx, { teamId, kind: 'password', subjectId: userId, now });
}
