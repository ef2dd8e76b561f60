import type { DbOrTx } from '../../../platform/storage/db.ts';
import { toFlag } from '../../../platform/storage/columns.ts';
import type { BackupRecord, ExportOf } from '../types.ts';

/** Which exports are still to be compared, and with what. */

/** Of all teams, the first stored first. A job's changes are shown with the job. */
export async function selectUncompared(db: DbOrTx, limit: number): Promise<BackupRecord[]> {
  return db
    .selectFrom('backups')
    .selectAll()
    .where('state', '=', 'stored')
    .where('origin', '<>', 'job')
    .where('changed', 'is', null)
    .orderBy('stored_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The last export of the router before this backup: of a job, the one from after it. Undefined for the first. */
export async function selectBefore(db: DbOrTx, backup: BackupRecord): Promise<ExportOf | undefined> {
  const row = await db
    .selectFrom('backups')
    .innerJoin('backup_parts', 'backup_parts.backup_id', 'backups.id')
    .selectAll('backups')
    .select('backup_parts.part')
    .where('backups.team_id', '=', backup.team_id)
    .where('backups.router_id', '=', backup.router_id)
    .where('backups.state', '=', 'stored')
    .where('backup_parts.part', 'in', ['export', 'export_after'])
    .where((eb) =>
      eb.or([
        eb('backups.created_at', '<', backup.created_at),
        eb.and([eb('backups.created_at', '=', backup.created_at), eb('backups.id', '<', backup.id)]),
      ]),
    )
    .orderBy('backups.created_at', 'desc')
    .orderBy('backups.id', 'desc')
    // `export_after` comes behind `export`.
    .orderBy('backup_parts.part', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { part, ...record } = row;
  return { record, part: part as ExportOf['part'] };
}

/** @returns false when it was compared already */
export async function markCompared(db: DbOrTx, { id, team_id: teamId }: BackupRecord, hasChanged: boolean): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backups')
    .set({ changed: toFlag(hasChanged) })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('changed', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0;
}
