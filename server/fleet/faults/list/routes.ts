import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { readAmong, wordsFilter } from '../../../platform/http/list-query.ts';
import { recordListRoute } from '../../../platform/http/record-list.ts';
import { faultSchema, presentFault } from '../routes.ts';
import type { FaultsService } from '../service.ts';
import { FAULT_SEVERITY } from '../types.ts';
import type { FaultType } from '../types.ts';

/** The faults of all routers. */
export function teamFaultsRoute(app: App, { faults, now }: { faults: Pick<FaultsService, 'listTeamFaults'>; now: () => number }): void {
  recordListRoute(app, {
    path: '/api/faults',
    tag: 'routers',
    operationId: 'listTeamFaults',
    summary: 'List the faults of every router of the team, newest first',
    name: 'faults',
    item: faultSchema,
    filters: {
      status: z.enum(['open', 'resolved']).optional(),
      severity: wordsFilter(['critical', 'warning', 'info']),
      type: wordsFilter(Object.keys(FAULT_SEVERITY) as FaultType[]),
    },
    find: ({ teamId, filter, given, page, wantsTotal }) => {
      const { status, severity, type } = given;
      return faults.listTeamFaults(
        teamId,
        { ...filter, status, severities: readAmong(severity), types: readAmong(type) },
        page,
        wantsTotal,
      );
    },
    recordOf: (fault) => fault,
    present: (fault) => presentFault(fault, now()),
  });
}
