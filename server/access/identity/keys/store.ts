import type { DbOrTx } from '../../../platform/storage/db.ts';

export type KeyKind = 'signing' | 'cookie';

export interface StoredKey {
  /** `kid` of a signing key. */
  id: string;
  kind: KeyKind;
  /** Encrypted. */
  secret: string;
  createdAt: number;
  /** Time from which it signs, milliseconds. */
  activeAt: number;
}

const KINDS: readonly KeyKind[] = ['signing', 'cookie'];

/** Newest first. Keys of other features, such as that of web push, lie beside them. */
export async function selectKeys(db: DbOrTx): Promise<StoredKey[]> {
  const rows = await db
    .selectFrom('provider_keys')
    .selectAll()
    .where('kind', 'in', KINDS)
    .orderBy('active_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind as KeyKind,
    secret: row.secret,
    createdAt: row.created_at,
    activeAt: row.active_at,
  }));
}

export async function insertKey(db: DbOrTx, key: StoredKey): Promise<void> {
  await db
    .insertInto('provider_keys')
    .values({ id: key.id, kind: key.kind, secret: key.secret, created_at: key.createdAt, active_at: key.activeAt })
    .execute();
}

export async function deleteKeys(db: DbOrTx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('provider_keys').where('id', 'in', ids).execute();
}
