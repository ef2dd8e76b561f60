import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { SilencesTable } from '../../../platform/storage/schema-notifications.ts';
import type { Silence } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

function toSilence(row: Selectable<SilencesTable>): Silence {
  return {
    id: row.id,
    teamId: row.team_id,
    routerId: row.router_id,
    siteId: row.site_id,
    from: row.from_at,
    until: row.until_at,
    reason: row.reason,
    createdBy: { kind: row.created_by_kind === 'user' ? 'user' : 'api_key', id: row.created_by },
    createdAt: row.created_at,
  };
}

export async function insertSilence(db: DbOrTx, silence: Silence): Promise<void> {
  await db
    .insertInto('silences')
    .values({
      id: silence.id,
      team_id: silence.teamId,
      router_id: silence.routerId,
      site_id: silence.siteId,
      from_at: silence.from,
      until_at: silence.until,
      reason: silence.reason,
      created_by_kind: silence.createdBy.kind,
      created_by: silence.createdBy.id,
      created_at: silence.createdAt,
    })
    .execute();
}

/** Newest first. */
export async function selectSilences(db: DbOrTx, teamId: string, page: Page): Promise<Silence[]> {
  const rows = await db.selectFrom('silences').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toSilence);
}

/** Those that have not ended: what {@link isSilenced} needs, read once for a batch of facts. */
export async function selectLastingSilences(db: DbOrTx, teamId: string, now: number): Promise<Silence[]> {
  const rows = await db.selectFrom('silences').selectAll().where('team_id', '=', teamId).where('until_at', '>', now).execute();
  return rows.map(toSilence);
}

/** False when the team has no such silence. */
export async function deleteSilence(db: DbOrTx, teamId: string, id: string): Promise<boolean> {
  const row = await db.deleteFrom('silences').where('team_id', '=', teamId).where('id', '=', id).returning('id').executeTakeFirst();
  return row !== undefined;
}

export async function deleteSilencesBefore(db: DbOrTx, before: number): Promise<void> {
  await db.deleteFrom('silences').where('until_at', '<', before).execute();
}

export async function hasRecord(db: DbOrTx, table: 'routers' | 'sites', teamId: string, id: string): Promise<boolean> {
  const row = await db.selectFrom(table).select('id').where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
