import { sql } from 'kysely';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { findPage, ofTeam } from '../../../platform/storage/list-query.ts';
import { BACKUP_STATES } from '../types.ts';
import type { BackupRecord } from '../types.ts';
import type { BackupFilter } from './types.ts';

export async function findBackups(
  db: Db,
  teamId: string,
  filter: BackupFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<BackupRecord>> {
  const { states } = filter;
  const backups = db.selectFrom('backups').selectAll().$call(ofTeam(teamId, filter));
  const queries = states.length === BACKUP_STATES.length ? [backups] : states.map((state) => backups.where('state', '=', state));
  return findPage(db, queries, { page, value: sql.ref('created_at'), valueOf: (backup) => backup.created_at, wantsTotal });
}
