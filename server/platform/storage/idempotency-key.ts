import { type SelectQueryBuilder, sql } from 'kysely';

/** A team's key, and since when its record counts, milliseconds since 1970. */
export interface KeyInUse {
  teamId: string;
  idempotencyKey: string;
  since: number;
}

/** For `$call`: the latest record that an `Idempotency-Key` of a team has made, which a repeated POST gets after a crash. */
export function madeWithKey<Tables, Table extends keyof Tables, Row>({
  teamId,
  idempotencyKey,
  since,
}: KeyInUse): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  // The `+` keeps SQLite from reading a day of records in the order of their time to find the key among them.
  const createdAt = sql<number>`+created_at`;
  return (query) =>
    query
      .where(sql.ref('team_id'), '=', teamId)
      .where(sql.ref('idempotency_key'), '=', idempotencyKey)
      .where(createdAt, '>=', since)
      .orderBy(createdAt, 'desc')
      .limit(1);
}
