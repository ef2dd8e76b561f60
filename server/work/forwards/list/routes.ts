import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { recordListRoute } from '../../../platform/http/record-list.ts';
import { forwardSchema, presentForward } from '../routes.ts';
import type { ForwardsService } from '../service.ts';

/** The forwards of all routers. */
export function teamForwardsRoute(app: App, { forwards, now }: { forwards: ForwardsService; now: () => number }): void {
  recordListRoute(app, {
    path: '/api/transient-forwarding',
    tag: 'forwards',
    operationId: 'listTeamForwards',
    summary: 'List the transient port forwards of every router of the team, newest first',
    name: 'forwards',
    item: forwardSchema,
    filters: { status: z.enum(['open', 'closed']).optional().describe('closed: expired or revoked') },
    find: ({ teamId, filter, given, page, wantsTotal }) => forwards.listTeam(teamId, { ...filter, status: given.status }, page, wantsTotal),
    recordOf: ({ record }) => record,
    present: (view) => presentForward(view, now()),
  });
}
