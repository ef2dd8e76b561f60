import { z } from 'zod';
import { chosen } from '../../../platform/core/list-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors } from '../../../platform/http/envelope.ts';
import {
  answerList,
  listEnvelope,
  listQuery,
  readAmong,
  readListPage,
  readRecordFilter,
  recordFilters,
  wordsFilter,
} from '../../../platform/http/list-query.ts';
import type { ListShape } from '../../../platform/http/list-query.ts';
import { backupExample, backupSchema, presentBackup } from '../routes.ts';
import type { BackupsService } from '../service.ts';
import { BACKUP_STATES } from '../types.ts';

const listedBackup = backupSchema
  .extend({ router_id: z.string() })
  .meta({ id: 'ListedBackup', examples: [{ ...backupExample, router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b' }] });

const shape = {
  name: 'backups',
  sorts: { created_at: 'number' },
  defaultSort: '-created_at',
  item: listedBackup,
} as const satisfies ListShape<'created_at', string>;

const query = listQuery(shape).extend({ ...recordFilters, state: wordsFilter(BACKUP_STATES) });

/** The backups of all routers. */
export function teamBackupsRoute(app: App, { backups }: { backups: BackupsService }): void {
  app.get(
    '/api/backups',
    {
      schema: {
        tags: ['backups'],
        operationId: 'listTeamBackups',
        summary: 'List the backups of every router of the team, newest first',
        querystring: query,
        response: { 200: listEnvelope(listedBackup), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { query: given } = request;
      const page = readListPage(shape, given);
      const filter = { ...readRecordFilter(given), states: chosen(BACKUP_STATES, readAmong(given.state)) };
      const found = await backups.listTeamBackups(principalOf(request).teamId, filter, page, given.total === 'true');
      return answerList(
        { request, reply, shape, page },
        found,
        ({ record }) => ({ value: record.created_at, id: record.id }),
        (backup) => ({ ...presentBackup(backup), router_id: backup.record.router_id }),
      );
    },
  );
}
