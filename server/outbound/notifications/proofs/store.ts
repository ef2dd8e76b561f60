import type { ExpressionBuilder } from 'kysely';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import type { OpenProof, ProofOf, ProofOwner } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

/** Of one owner. A target belongs to its team, a contact to a person, who may be a member of several teams. */
function isOf({ teamId, userId, ownerId }: ProofOwner) {
  return (eb: ExpressionBuilder<Schema, 'address_proofs'>) =>
    eb.and([eb('owner_id', '=', ownerId), userId === null ? eb('team_id', '=', teamId) : eb('user_id', '=', userId)]);
}

/** Ends the earlier codes of the owner: only the newest one counts. */
export async function endProofs(db: DbOrTx, owner: ProofOwner): Promise<void> {
  await db.updateTable('address_proofs').set({ expires_at: 0 }).where(isOf(owner)).where('expires_at', '>', 0).execute();
}

interface NewProof extends ProofOf {
  id: string;
  codeHash: string;
  sentAt: number;
  expiresAt: number;
}

export async function insertProof(db: DbOrTx, proof: NewProof): Promise<void> {
  await db
    .insertInto('address_proofs')
    .values({
      id: proof.id,
      team_id: proof.teamId,
      user_id: proof.userId,
      owner_id: proof.ownerId,
      address_key: proof.addressKey,
      code_hash: proof.codeHash,
      tries: 0,
      sent_at: proof.sentAt,
      expires_at: proof.expiresAt,
    })
    .execute();
}

/** When the latest codes were sent after `since`, oldest first. At most `most` of them: it is only asked whether that many are there. */
export async function selectSendings(
  db: DbOrTx,
  by: { column: 'team_id' | 'owner_id' | 'address_key'; value: string },
  since: number,
  most: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('address_proofs')
    .select('sent_at')
    .where(by.column, '=', by.value)
    .where('sent_at', '>', since)
    .orderBy('sent_at', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => row.sent_at).toReversed();
}

/** Codes of an owner for an address, the newest ones, also those that have ended. */
export async function selectProofs(db: DbOrTx, owner: ProofOwner, addressKey: string): Promise<{ id: string; codeHash: string }[]> {
  return db
    .selectFrom('address_proofs')
    .select(['id', 'code_hash as codeHash'])
    .where(isOf(owner))
    .where('address_key', '=', addressKey)
    .orderBy('sent_at', 'desc')
    .limit(MOST_PROOFS)
    .execute();
}

/** More are not sent to an address in the days in which they are kept. */
const MOST_PROOFS = 50;

/** Counts a try of the owner's open code. Undefined when there is none, or its tries are used up. */
export async function takeTry(
  db: DbOrTx,
  owner: ProofOwner,
  { now, tries }: { now: number; tries: number },
): Promise<OpenProof | undefined> {
  const row = await db
    .updateTable('address_proofs')
    .set((eb) => ({ tries: eb('tries', '+', 1) }))
    .where(isOf(owner))
    .where('expires_at', '>', now)
    .where('tries', '<', tries)
    .returning(['id', 'code_hash', 'address_key', 'tries'])
    .executeTakeFirst();
  return row && { id: row.id, codeHash: row.code_hash, addressKey: row.address_key, tries: row.tries };
}

/** Deletes what no limit counts any more. */
/** Deletes at most `limit` codes of all teams that were sent before a time. @returns the number deleted */
export async function deleteProofsBefore(db: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('address_proofs')
    .where((eb) => eb('id', 'in', eb.selectFrom('address_proofs as old').select('old.id').where('old.sent_at', '<', before).limit(limit)))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
