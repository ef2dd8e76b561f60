import { z } from 'zod';
import { chosen } from '../../../platform/core/list-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { readAmong, wordsFilter } from '../../../platform/http/list-query.ts';
import { recordListRoute } from '../../../platform/http/record-list.ts';
import { backupExample, backupSchema, presentBackup } from '../routes.ts';
import type { BackupsService } from '../service.ts';
import { BACKUP_STATES } from '../types.ts';

const listedBackup = backupSchema
  .extend({ router_id: z.string() })
  .meta({ id: 'ListedBackup', examples: [{ ...backupExample, router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b' }] });

/** The backups of all routers. */
export function teamBackupsRoute(app: App, { backups }: { backups: BackupsService }): void {
  recordListRoute(app, {
    path: '/api/backups',
    tag: 'backups',
    operationId: 'listTeamBackups',
    summary: 'List the backups of every router of the team, newest first',
    name: 'backups',
    item: listedBackup,
    filters: { state: wordsFilter(BACKUP_STATES) },
    find: ({ teamId, filter, given, page, wantsTotal }) =>
      backups.listTeamBackups(teamId, { ...filter, states: chosen(BACKUP_STATES, readAmong(given.state)) }, page, wantsTotal),
    recordOf: ({ record }) => record,
    present: (backup) => ({ ...presentBackup(backup), router_id: backup.record.router_id }),
  });
}
