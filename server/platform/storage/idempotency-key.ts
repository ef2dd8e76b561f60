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
  return (query) =>
    query
      .where(sql.ref('team_id'), '=', teamId)
      .where(sql.ref('idempotency_key'), '=', idempotencyKey)
      .where(sql.ref('created_at'), '>=', since)
      .orderBy(sql.ref('created_at'), 'desc')
      .limit(1);
}
