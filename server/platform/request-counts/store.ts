import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../storage/db.ts';

/** Up to this many requests each has a stamp of its own, so that a row stays below 2 kB. */
export const MAX_STAMPS = 100;
/** Above this many, permits are taken in blocks. */
export const MAX_SINGLE = 600;
/** How long the permits of a block may be used, milliseconds. Its stamp stays so much longer. */
export const BLOCK_MS = 1000;

/** How many requests of a key are to be counted; a negative number takes as many back. */
export interface Asked {
  key: string;
  most: number;
  wanted: number;
  /** What is taken back was counted at this moment of the database or later, microseconds. Without it nothing is taken back. */
  since?: number;
}

export interface Counted {
  key: string;
  /** How many of those wanted there was room for. */
  granted: number;
  /** Requests in the window now. */
  total: number;
  /** Milliseconds until the oldest leaves it; 0 without any. */
  ttl: number;
  /** The moment of the database, microseconds. */
  at: number;
}

export interface CountOptions {
  /** Milliseconds. */
  windowMs: number;
  /** The time of the database in microseconds: an expression, asked for again after a wait for a row. */
  now?: RawBuilder<number>;
}

interface CountedRow extends Omit<Counted, 'ttl'> {
  most: number;
  /** Microseconds; null without any. */
  oldest: number | null;
}

/** Not `now()`, which is when the transaction began: a wait for the row of a key must not make its requests older. */
const CLOCK = sql<number>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * Counts requests of several keys, each at most once in the list, in one statement. The row of a key is locked while it is counted, so
 * that all control planes count one after the other; rows are locked in their order, so that no two statements wait for each other.
 *
 * A row holds when its requests were counted, and leaves none out before it is older than the window. Beyond {@link MAX_STAMPS} requests
 * share a stamp, that of the end of their 0.6 s. Taking back removes the oldest: what is left counts as later than it was, never as
 * earlier. So what may soon have left the window is not taken back. Stamps of a clock that has been set back since count as those of now.
 */
export async function countRequests(db: Db, asked: readonly Asked[], { windowMs, now = CLOCK }: CountOptions): Promise<Counted[]> {
  const rows = asked.map(({ key, most, wanted, since = 0 }) => sql`(${key}::text, ${most}::bigint, ${wanted}::bigint, ${since}::bigint)`);
  const windowUs = sql.lit(windowMs * 1000);
  const grainOf = (most: RawBuilder<unknown>) =>
    sql`(case when ${most} <= ${sql.lit(MAX_STAMPS)} then 1 else ${windowUs}::bigint / ${sql.lit(MAX_STAMPS)} end)`;
  const keepOf = (most: RawBuilder<unknown>) =>
    sql`(${windowUs}::bigint + case when ${most} > ${sql.lit(MAX_SINGLE)} then ${sql.lit(BLOCK_MS * 1000)} else 0 end)`;
  const stampOf = (most: RawBuilder<unknown>) => sql`((clock.now + ${grainOf(most)} - 1) / ${grainOf(most)} * ${grainOf(most)})`;
  const excluded = sql`excluded.most`;
  const { rows: counted } = await sql<CountedRow>`
    insert into request_counts as kept (key, most, granted, total, stamps, counts)
    select asked.key, asked.most, least(asked.wanted, asked.most), greatest(0, least(asked.wanted, asked.most)),
      case when asked.wanted > 0 then array[${stampOf(sql`asked.most`)}] else '{}'::bigint[] end,
      case when asked.wanted > 0 then array[least(asked.wanted, asked.most)] else '{}'::bigint[] end
    from (values ${sql.join(rows)}) as asked (key, most, wanted, since), (select ${now} as now) as clock
    where asked.wanted >= 0 or asked.since > clock.now - ${windowUs}::bigint * 3 / 4
    order by asked.key collate "C"
    on conflict (key) do update set (most, granted, total, stamps, counts) = (
      select excluded.most, taken.granted, live.total + taken.granted,
        case when taken.granted = 0 or live.stamps[cardinality(live.stamps)] = ${stampOf(excluded)} then live.stamps
          else live.stamps || ${stampOf(excluded)} end,
        case when taken.granted = 0 then live.counts
          when live.stamps[cardinality(live.stamps)] = ${stampOf(excluded)}
            then live.counts[:cardinality(live.counts) - 1] || (live.counts[cardinality(live.counts)] + taken.granted)
          else live.counts || taken.granted end
      from (select ${now} as now) as clock,
      lateral (
        select coalesce(sum(rest.count), 0)::bigint as total,
          coalesce(array_agg(rest.stamp order by rest.number) filter (where rest.count > 0), '{}') as stamps,
          coalesce(array_agg(rest.count order by rest.number) filter (where rest.count > 0), '{}') as counts
        from (
          select least(one.stamp, clock.now + ${grainOf(excluded)}) as stamp, one.number,
            one.count - greatest(0, least(one.count, -excluded.granted - (sum(one.count) over (order by one.number) - one.count))::bigint)
              as count
          from unnest(kept.stamps, kept.counts) with ordinality as one (stamp, count, number)
          where one.stamp > clock.now - ${keepOf(excluded)}
        ) as rest
      ) as live,
      lateral (select greatest(0, least(excluded.granted, excluded.most - live.total)) as granted) as taken
    )
    returning kept.key, kept.granted, kept.total, kept.most, kept.stamps[1] as oldest, ${now} as at
  `.execute(db);
  return counted.map(({ key, granted, total, most, oldest, at }) => ({
    key,
    granted: Math.max(0, granted),
    total,
    at,
    ttl: oldest === null ? 0 : (oldest - at) / 1000 + windowMs + (most > MAX_SINGLE ? BLOCK_MS : 0),
  }));
}

/** Deletes the rows of keys without a request in the window. */
export async function deleteOldCounts(db: Db, { windowMs, now = CLOCK }: CountOptions): Promise<void> {
  await sql`
    delete from request_counts
    where cardinality(stamps) = 0 or stamps[cardinality(stamps)] <= ${now} - ${sql.lit((windowMs + BLOCK_MS) * 1000)}
  `.execute(db);
}
