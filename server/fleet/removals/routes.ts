import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime } from '../../platform/http/envelope.ts';
import { uuidField } from '../../platform/http/fields.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import type { RemovalsService } from './service.ts';
import type { Ended } from './types.ts';

const AWAY = problemSchema.describe(
  'Several control planes: the one that has the agent does not answer, so that nobody knows whether the router is there. See Retry-After',
);

const endedFields = {
  jobs_canceled: z.number().describe('Queued jobs that were canceled; they never ran'),
  jobs_unknown: z.number().describe('Jobs that a revoked agent had accepted: whether they ran is unknown'),
  forwards_closed: z.number().describe('Forwards that were closed, with their ports and connections'),
};
const removalSchema = z
  .object({ id: z.string(), removed_at: dateTime, purged: z.boolean(), ...endedFields })
  .meta({
    id: 'RouterRemoval',
    examples: [
      {
        id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        removed_at: '2031-05-01T08:30:00.000Z',
        purged: false,
        jobs_canceled: 1,
        jobs_unknown: 0,
        forwards_closed: 1,
      },
    ],
  });

const replaceBody = z
  .object({
    replaced_by: uuidField.describe('The router record of the new hardware'),
    keep_jobs: z.boolean().optional().describe('true: queued jobs of the old hardware run on the new one. Otherwise they are canceled'),
  })
  .meta({ id: 'RouterReplacementRequest', examples: [{ replaced_by: '01a1fb9c-8888-7279-a064-482cecad7b5b' }] });
const replacementSchema = z
  .object({
    id: z.string(),
    serial_number: z.string().nullable(),
    former_serial_number: z.string().nullable(),
    merged_router_id: z.string().describe('The former record of the new hardware, which no longer exists'),
    ...endedFields,
  })
  .meta({
    id: 'RouterReplacement',
    examples: [
      {
        id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        serial_number: 'HEX0NEW',
        former_serial_number: 'HEX0OLD',
        merged_router_id: '01a1fb9c-8888-7279-a064-482cecad7b5b',
        jobs_canceled: 1,
        jobs_unknown: 0,
        forwards_closed: 0,
      },
    ],
  });

/** Removal of routers, and replacement of their hardware. */
export function removalRoutes(app: App, { removals }: { removals: RemovalsService }): void {
  removal(app, removals);
  replacement(app, removals);
}

function replacement(app: App, removals: RemovalsService): void {
  app.post(
    '/api/routers/:router_id/replace',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['routers'],
        operationId: 'replaceRouter',
        summary: 'Replace the hardware of a router: id, site, jobs, backups and history stay',
        description:
          'First connect the new hardware, so that it is listed as a router of its own. This request merges that record into this one and ' +
          'closes the forwards of both. Queued jobs of the old hardware are canceled (`reason` router_replaced) unless `keep_jobs` is true. ' +
          'The request is refused while the old hardware answers, while a job runs on either router, and while a campaign has not reached ' +
          'either. The router takes over the identity of the new hardware.',
        params: routerParams,
        body: replaceBody,
        response: {
          200: envelope(replacementSchema),
          ...commonErrors,
          409: problemSchema.describe('The old hardware answers, or a job or campaign is in progress; `detail` says which'),
          503: AWAY,
        },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { replaced_by: replacedBy, keep_jobs: keepJobs = false } = request.body;
      const { change, ended } = await removals.replaceRouter({ teamId, routerId: request.params.router_id, replacedBy, keepJobs });
      const { router, formerHardwareId, formerSerialNumber, mergedId } = change;
      request.auditDetail = `hardware ${formerHardwareId} replaced by ${router.hardware_id} (router ${mergedId})`;
      return success({
        id: router.id,
        serial_number: router.serial_number,
        former_serial_number: formerSerialNumber,
        merged_router_id: mergedId,
        ...present(ended),
      });
    },
  );
}

function removal(app: App, removals: RemovalsService): void {
  app.delete(
    '/api/routers/:router_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['routers'],
        operationId: 'removeRouter',
        summary: 'Remove a router; its jobs and backups stay readable unless they are purged',
        description:
          'The request closes its forwards at once, cancels its queued jobs (`reason` router_removed), resolves its open faults, and deletes ' +
          'devices that no other router has seen. Past jobs, backups, faults and connections stay readable under the id of the router for ' +
          'their usual retention time; `purge=true` deletes them, now or in a later request. Refused while its agent still has the router ' +
          'or is offline without being revoked, and while a job is running. The same hardware, enrolled later, is a new router. The request ' +
          'is idempotent.',
        params: routerParams,
        querystring: z.object({
          purge: z
            .enum(['true', 'false'])
            .optional()
            .describe('true: also delete its jobs, backups, forwards and faults. The audit log stays'),
        }),
        response: {
          200: envelope(removalSchema),
          ...commonErrors,
          409: problemSchema.describe('An agent has it or may have it, or a job is running; `detail` says which'),
          503: AWAY,
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
