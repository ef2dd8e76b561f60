import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors } from '../../../platform/http/envelope.ts';
import { answerList, listEnvelope, listQuery, readListPage, readRecordFilter, recordFilters } from '../../../platform/http/list-query.ts';
import type { ListShape } from '../../../platform/http/list-query.ts';
import { forwardSchema, presentForward } from '../routes.ts';
import type { ForwardsService } from '../service.ts';

const shape = {
  name: 'forwards',
  sorts: { created_at: 'number' },
  defaultSort: '-created_at',
  item: forwardSchema,
} as const satisfies ListShape<'created_at', string>;

const query = listQuery(shape).extend({
  ...recordFilters,
  status: z.enum(['open', 'closed']).optional().describe('closed: expired or revoked'),
});

/** The forwards of all routers. */
export function teamForwardsRoute(app: App, { forwards, now }: { forwards: ForwardsService; now: () => number }): void {
  app.get(
    '/api/transient-forwarding',
    {
      schema: {
        tags: ['forwards'],
        operationId: 'listTeamForwards',
        summary: 'List the transient port forwards of every router of the team, newest first',
        querystring: query,
        response: { 200: listEnvelope(forwardSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { query: given } = request;
      const page = readListPage(shape, given);
      const filter = { ...readRecordFilter(given), status: given.status };
      const found = await forwards.listTeam(principalOf(request).teamId, filter, page, given.total === 'true');
      const keyOf = ({ record }: (typeof found.rows)[number]) => ({ value: record.created_at, id: record.id });
      return answerList({ request, reply, shape, page }, found, keyOf, (view) => presentForward(view, now()));
    },
  );
}
