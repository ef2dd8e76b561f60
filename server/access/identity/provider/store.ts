import type { Selectable } from 'kysely';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import type { ProviderRecordsTable } from '../../../platform/storage/schema-identity.ts';

export type ProviderRecord = Selectable<ProviderRecordsTable>;

export async function upsertRecord(db: DbOrTx, record: ProviderRecord): Promise<void> {
  const { model: _model, id: _id, consumed_at: _consumed, ...changed } = record;
  await db
    .insertInto('provider_records')
    .values(record)
    .onConflict((conflict) => conflict.columns(['model', 'id']).doUpdateSet(changed))
    .execute();
}

export async function selectRecord(db: DbOrTx, model: string, id: string): Promise<ProviderRecord | undefined> {
  return db.selectFrom('provider_records').selectAll().where('model', '=', model).where('id', '=', id).executeTakeFirst();
}

export async function selectRecordByUid(db: DbOrTx, model: string, uid: string): Promise<ProviderRecord | undefined> {
  return db.selectFrom('provider_records').selectAll().where('uid', '=', uid).where('model', '=', model).executeTakeFirst();
}

/** @returns false when it was already consumed: of two concurrent uses of one code, one is refused */
export async function consumeRecord(db: DbOrTx, model: string, id: string, at: number): Promise<boolean> {
  const row = await db
    .updateTable('provider_records')
    .set({ consumed_at: at })
    .where('model', '=', model)
    .where('id', '=', id)
    .where('consumed_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteRecord(db: DbOrTx, model: string, id: string): Promise<void> {
  await db.deleteFrom('provider_records').where('model', '=', model).where('id', '=', id).execute();
}

export async function deleteRecordsOfGrant(db: DbOrTx, model: string, grantId: string): Promise<void> {
  await db.deleteFrom('provider_records').where('grant_id', '=', grantId).where('model', '=', model).execute();
}

/** Every code, grant and refresh token of a client. */
export async function deleteRecordsOfClient(db: DbOrTx, clientId: string): Promise<void> {
  await db.deleteFrom('provider_records').where('client_id', '=', clientId).execute();
}

/** Removes up to `limit` records that expired before `at`. @returns the number removed */
export async function deleteExpiredRecords(storage: Storage, at: number, limit: number): Promise<number> {
  const expired = await storage.db
    .selectFrom('provider_records')
    .select(['model', 'id'])
    .where('expires_at', '<', at)
    .limit(limit)
    .execute();
  if (expired.length === 0) return 0;
  await storage.writes.write(async (tx) => {
    for (const { model, id } of expired) {
      await tx.deleteFrom('provider_records').where('model', '=', model).where('id', '=', id).where('expires_at', '<', at).execute();
    }
  });
  return expired.length;
}
