import { sql } from 'kysely';
import type { SelectQueryBuilder, SqlBool } from 'kysely';

/**
 * For `$call`: records of a team by their ids, at least one. SQLite knows no sizes: of more than some ten ids it would rather read all records
 * of the team through the index of the team, a page of 100 routers as slowly as 10,000. `|| ''` keeps it from that.
 * @param id column with the id @param team column with the team
 */
export function ofTeamByIds<Tables, Table extends keyof Tables, Row>(
  teamId: string,
  ids: readonly string[],
  { id = 'id', team = 'team_id' } = {},
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  return (query) =>
    query.where(sql<SqlBool>`(${sql.ref(team)} || '') = ${teamId}`).where(sql<SqlBool>`${sql.ref(id)} in (${sql.join(ids)})`);
}
