import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { takeTokens } from './tokens.ts';
import type { Rate } from './tokens.ts';

/**
 * Takes tokens of a bucket that all processes share, inside a write. @returns with `probe` for the one message that may try a refused account:
 * what {@link leaveProbe} asks for; null for every other
 */
export async function takeFrom(
  tx: DbOrTx,
  key: string,
  rate: Rate,
  wanted: number,
  now: number,
): Promise<{ granted: number; nextAt: number; isPaused: boolean; probe: number | null }> {
  await tx
    .insertInto('send_buckets')
    .values({ key, tokens: rate.burst, at: now, stopped_until: null })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  // Also locks the row until the transaction ends.
  const row = await tx
    .updateTable('send_buckets')
    .set((eb) => ({ at: eb.ref('at') }))
    .where('key', '=', key)
    .returningAll()
    .executeTakeFirstOrThrow();
  const { bucket, granted, nextAt, isPaused } = takeTokens(
    { ...row, stoppedUntil: row.stopped_until, probingUntil: row.probing_until },
    rate,
    wanted,
    now,
  );
  await tx
    .updateTable('send_buckets')
    .set({ tokens: bucket.tokens, at: bucket.at, stopped_until: bucket.stoppedUntil, probing_until: bucket.probingUntil })
    .where('key', '=', key)
    .execute();
  return { granted, nextAt, isPaused, probe: granted > 0 ? bucket.probingUntil : null };
}

/** Nothing goes through this bucket until then. @param isRefused the account is: after that, one message after the other tries it */
export async function stopBucket(tx: DbOrTx, key: string, until: number, isRefused = false): Promise<void> {
  await tx
    .updateTable('send_buckets')
    .set((eb) => ({
      stopped_until: eb.case().when('stopped_until', '>', until).then(eb.ref('stopped_until')).else(eb.val(until)).end(),
      ...(isRefused ? { probing_until: 0 } : {}),
    }))
    .where('key', '=', key)
    .execute();
}

/** The account takes messages. Nothing is written for one that was not refused. */
export async function acceptAccount(tx: DbOrTx, key: string): Promise<void> {
  await tx.updateTable('send_buckets').set({ probing_until: null }).where('key', '=', key).where('probing_until', 'is not', null).execute();
}

/** A message did not find out whether a refused account takes messages: the next one tries it. The attempt of another goes on. */
export async function leaveProbe(tx: DbOrTx, key: string, probe: number | null): Promise<void> {
  if (probe === null) return;
  await tx.updateTable('send_buckets').set({ probing_until: 0 }).where('key', '=', key).where('probing_until', '=', probe).execute();
}

/** Buckets (at most `limit`) that were not used since a time are full anyway. @returns the number deleted */
export async function deleteBucketsBefore(tx: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('send_buckets')
    .where((eb) => eb('key', 'in', eb.selectFrom('send_buckets as old').select('old.key').where('old.at', '<', before).limit(limit)))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
