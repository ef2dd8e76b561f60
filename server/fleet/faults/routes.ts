import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { FaultsService } from './service.ts';
import { FAULT_SEVERITY } from './types.ts';
import type { FaultRecord } from './types.ts';

/** docs/interface.md, fault. */
export const faultSchema = z
  .object({
    id: z.string(),
    rid: z.string().describe('Id of the router'),
    message: z.string().describe('The fault in one sentence'),
    severity: z.string().describe('critical, warning or info'),
    type: z.string().describe(`One of ${Object.keys(FAULT_SEVERITY).join(', ')}`),
    cause: z.string().describe('The observation behind it'),
    created_at: dateTime.describe('When it began, which may be before it was detected'),
    resolved_at: dateTime.nullable(),
    duration: z.int().describe('Seconds; for an open fault, until now'),
    status: z.enum(['open', 'resolved']),
    occurrences: z.int().describe('How often the fault opened; it reopens when it returns soon after it was resolved'),
  })
  .meta({
    id: 'Fault',
    examples: [
      {
        id: '01a1fba0-5b1e-7354-a8b1-996d0b28db1a',
        rid: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        message: 'the router does not answer',
        severity: 'critical',
        type: 'router_offline',
        cause: 'connection refused',
        created_at: '2031-05-01T08:30:00.000Z',
        resolved_at: '2031-05-01T08:32:10.000Z',
        duration: 130,
        status: 'resolved',
        occurrences: 1,
      },
    ],
  });

const faultQuery = pageQuery.extend({ status: z.enum(['open', 'resolved']).optional() });

interface FaultRoutesDeps {
  faults: Pick<FaultsService, 'listFaults'>;
  now: () => number;
}

/** The faults of one router; those of the team are in list/routes.ts. */
export function faultRoutes(app: App, deps: FaultRoutesDeps): void {
  app.get(
    '/api/routers/:router_id/faults',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listFaults',
        summary: 'List the faults of a router, newest first',
        params: routerParams,
        querystring: faultQuery,
        response: { 200: envelope(z.array(faultSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { teamId } = principalOf(request);
      const faults = await deps.faults.listFaults(teamId, request.params.router_id, page, request.query.status);
      linkNext(request, reply, page, faults, (fault) => ({ at: fault.created_at, id: fault.id }));
      return success(faults.map((fault) => presentFault(fault, deps.now())));
    },
  );
}

export function presentFault(fault: FaultRecord, now: number): z.infer<typeof faultSchema> {
  const until = fault.resolved_at ?? now;
  return {
    id: fault.id,
    rid: fault.router_id,
    message: fault.message,
    severity: fault.severity,
    type: fault.type,
    cause: fault.cause,
    created_at: toDateTime(fault.created_at),
    resolved_at: toDateTimeOrNull(fault.resolved_at),
    duration: Math.max(0, Math.floor((until - fault.created_at) / 1000)),
    status: fault.resolved_at === null ? 'open' : 'resolved',
    occurrences: fault.occurrences,
  };
}
