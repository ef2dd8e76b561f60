import { AppError } from '../core/errors.ts';
import type { KeyFingerprint } from '../storage/secrets.ts';
import type { Tx } from '../storage/db.ts';
import type { NodeRecord } from './store.ts';

/**
 * Refuses a control plane whose secret key file is not that of the others: it could not read what they store, or they not what it stores.
 * Remembers a key with which it will encrypt. To be called under the lock of the claim.
 * @param own in the order of its file: the first one encrypts
 * @param others that serve the database now
 * @throws AppError `invalid`, with what to do
 */
export async function admitKeys(tx: Tx, own: readonly KeyFingerprint[], others: readonly NodeRecord[], now: number): Promise<void> {
  const known = await tx.selectFrom('secret_keys').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
  const [newest] = known;
  const isOwn = (stored: KeyFingerprint): boolean =>
    own.some(({ id, fingerprint }) => id === stored.id && fingerprint === stored.fingerprint);
  if (newest && !isOwn(newest))
    throw refusal(`it lacks the key ${newest.id}, with which this database is encrypted; copy the file of a control plane that serves it`);
  const forged = known.find((stored) => own.some(({ id }) => id === stored.id) && !isOwn(stored));
  if (forged) throw refusal(`its key ${forged.id} is another one than that of this database`);
  const current = own[0]!;
  if (known.some(({ id }) => id === current.id)) return;
  const ignorant = others.find(({ keys }) => keys !== null && !keys.split(' ').includes(current.id));
  if (ignorant) {
    throw refusal(
      `its first key ${current.id} is unknown to ${ignorant.name}; add it to the file of every control plane behind their first one and restart them before it encrypts`,
    );
  }
  await tx
    .insertInto('secret_keys')
    .values({ ...current, created_at: Math.max(now, (newest?.created_at ?? 0) + 1) })
    .execute();
}

function refusal(reason: string): AppError {
  return new AppError('invalid', `the secret key file cannot be used beside the other control planes: ${reason} (docs/cluster.md)`);
}
