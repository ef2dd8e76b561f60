import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { z } from 'zod';
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
import { faultSchema, presentFault } from '../routes.ts';
import type { FaultsService } from '../service.ts';
import { FAULT_SEVERITY } from '../types.ts';
import type { FaultType } from '../types.ts';

const shape = {
  name: 'faults',
  sorts: { created_at: 'number' },
  defaultSort: '-created_at',
  item: faultSchema,
} as const satisfies ListShape<'created_at', string>;

const query = listQuery(shape).extend({
  ...recordFilters,
  status: z.enum(['open', 'resolved']).optional(),
  severity: wordsFilter(['critical', 'warning', 'info']),
  type: wordsFilter(Object.keys(FAULT_SEVERITY) as FaultType[]),
});

/** The faults of all routers. */
export function teamFaultsRoute(app: App, { faults, now }: { faults: Pick<FaultsService, 'listTeamFaults'>; now: () => number }): void {
  app.get(
    '/api/faults',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listTeamFaults',
        summary: 'List the faults of every router of the team, newest first',
        querystring: query,
        response: { 200: listEnvelope(faultSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { query: given } = request;
      const page = readListPage(shape, given);
      const filter = {
        ...readRecordFilter(given),
        status: given.status,
        severities: readAmong(given.severity),
        types: readAmong(given.type),
      };
      const found = await faults.listTeamFaults(principalOf(request).teamId, filter, page, given.total === 'true');
      return answerList(
        { request, reply, shape, page },
        found,
        (fault) => ({ value: fault.created_at, id: fault.id }),
        (fault) => presentFault(fault, now()),
      );
    },
  );
}
