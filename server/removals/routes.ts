import { z } from 'zod';
import type { App } from '../http/app.ts';
import { principalOf } from '../http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime } from '../http/envelope.ts';
import { problemSchema } from '../http/error-handler.ts';
import type { RemovalsService } from './service.ts';
import type { Ended } from './types.ts';

const endedFields = {
  jobs_canceled: z.number().describe('Queued jobs that were taken back; they never ran'),
  jobs_unknown: z.number().describe('Jobs that a revoked agent held: they may have run, and nobody will say so'),
  forwards_closed: z.number().describe('With their ports and connections'),
};
const removalSchema = z
  .object({ id: z.string(), removed_at: dateTime, purged: z.boolean(), ...endedFields })
  .meta({
    id: 'RouterRemoval',
    examples: [
      {
        id: '01a1fb9c-376e-7279-a064-482cecad7b5b', removed_at: '2031-05-01T08:30:00.000Z', purged: false,
        jobs_canceled: 1, jobs_unknown: 0, forwards_closed: 1,
      },
    ],
  });

/** Routers that leave the team. */
export function removalRoutes(app: App, { removals }: { removals: RemovalsService }): void {
  app.delete(
    '/api/routers/:router_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['routers'],
        operationId: 'removeRouter',
        summary: 'Remove a router; its jobs and backups stay readable unless they are purged',
        description:
          'Its forwards close at once, its queued jobs are taken back (`reason` router_removed), its open faults end, and devices that no ' +
          'other router has seen are forgotten. Jobs, backups, faults and connections of the past stay readable under the id of the router ' +
          'for as long as they are kept anyway; `purge=true` deletes them, now or later. Refused while its agent has the router or is away ' +
          'without being revoked, and while a job is under way. The same hardware enrolled later is a new router. Repeating it changes nothing.',
        params: routerParams,
        querystring: z.object({
          purge: z.enum(['true', 'false']).optional().describe('true: also delete its jobs, backups, forwards and faults. The audit log stays'),
        }),
        response: {
          200: envelope(removalSchema),
          ...commonErrors,
          409: problemSchema.describe('An agent has it, or may have it, or a job is under way; `detail` says which'),
        },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const purged = request.query.purge === 'true';
      const { router, ended } = await removals.removeRouter(teamId, request.params.router_id);
      request.auditDetail = `${router.identity}, hardware ${router.hardware_id}${purged ? ', purged' : ''}`;
      if (purged) await removals.purgeRouter(teamId, router.id);
      return success({ id: router.id, removed_at: toDateTime(router.removed_at ?? 0), purged, ...present(ended) });
    },
  );
}

function present({ jobsCanceled, jobsUnknown, forwardsClosed }: Ended) {
  return { jobs_canceled: jobsCanceled, jobs_unknown: jobsUnknown, forwards_closed: forwardsClosed };
}
