import { sql } from 'kysely';
import type { DbOrTx } from './db.ts';

/** Tables whose rows fall due; each has an index by team and `due_at`. */
type DueTable = 'backups' | 'job_events' | 'messages';

/**
 * Teams with due rows, longest due first. Skips from team to team in the index, so that the cost does not depend on the
 * number of due rows of one team.
 */
export async function selectDueTeams(db: DbOrTx, table: DueTable, now: number): Promise<string[]> {
  const rows = sql.table(table);
  const { rows: teams } = await sql<{ team_id: string }>`
    with recursive teams (team_id) as (
      select (select team_id from ${rows} where due_at is not null order by team_id limit 1)
      union all
      select (select due.team_id from ${rows} as due where due.due_at is not null and due.team_id > teams.team_id order by due.team_id limit 1)
      from teams where teams.team_id is not null)
    select team_id from (
      select team_id, (select due.due_at from ${rows} as due where due.team_id = teams.team_id and due.due_at is not null order by due.due_at limit 1) as due_at
      from teams where team_id is not null) as firsts
    where due_at <= ${now} order by due_at, team_id`.execute(db);
  return teams.map((row) => row.team_id);
}
