import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';

/** A counter of attempts, by the time it takes to become empty, milliseconds. */
export interface LevelChange {
  key: string;
  changeMs: number;
  /** Of a full one. */
  fullMs: number;
}

/** The time of the database, milliseconds. */
export type DatabaseNow = RawBuilder<number>;

/** Not `now()`, which is when the transaction began: it may have waited for a counter. */
const CLOCK = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Locks counters until the end of the transaction, in their order, so that no two transactions wait for each other.
 * @param keys each once
 * @returns how long each takes to become empty, milliseconds
 */
export async function lockLevels(tx: Tx, keys: readonly string[], now: DatabaseNow = CLOCK): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; level: number }>`
    insert into sign_in_attempts as kept (key, empty_at)
    select asked.key, ${now} from (values ${sql.join(keys.map((key) => sql`(${key}::text)`))}) as asked (key)
    order by asked.key collate "C"
    on conflict (key) do update set empty_at = kept.empty_at
    returning kept.key, greatest(0, kept.empty_at - ${now}) as level
  `.execute(tx);
  return new Map(rows.map(({ key, level }) => [key, level]));
}

/** @param changes each key once. A counter is never over full, also after the clock was set back */
export async function changeLevels(db: DbOrTx, changes: readonly LevelChange[], now: DatabaseNow = CLOCK): Promise<void> {
  if (changes.length === 0) return;
  const values = changes.map(({ key, changeMs, fullMs }) => sql`(${key}::text, ${changeMs}::bigint, ${fullMs}::bigint)`);
  const asked = sql`(values ${sql.join(values)}) as asked (key, change_ms, full_ms)`;
  await sql`
    insert into sign_in_attempts as kept (key, empty_at)
    select asked.key, ${now} + greatest(0, asked.change_ms) from ${asked} order by asked.key collate "C"
    on conflict (key) do update set empty_at = (
      select clock.now + greatest(0, least(asked.full_ms, greatest(0, kept.empty_at - clock.now)) + asked.change_ms)
      from ${asked}, (select ${now} as now) as clock where asked.key = excluded.key
    )
  `.execute(db);
}

/** Deletes counters that have become empty. */
export async function deleteEmptyCounters(db: DbOrTx, now: DatabaseNow = CLOCK): Promise<void> {
  await sql`delete from sign_in_attempts where empty_at <= ${now}`.execute(db);
}
