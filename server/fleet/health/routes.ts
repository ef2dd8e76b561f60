import { z } from 'zod';
import { readStepRange } from '../../platform/core/time-steps.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime } from '../../platform/http/envelope.ts';
import { presentSteps, stepQuery, stepsOf } from '../../platform/http/step-query.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterHealth } from './service.ts';
import type { HealthPoint } from './types.ts';

const spread = z.object({ min: z.number(), mean: z.number(), max: z.number() }).nullable();

const pointSchema = z
  .object({
    from: dateTime,
    to: dateTime.describe('Later than requested where only hours are kept'),
    cpu_load_percent: spread.describe('Of all processors'),
    memory_used_percent: spread,
    disk_used_percent: spread,
    temperature_celsius: spread.describe('Of the hottest sensor; null for a router without one'),
    voltage: spread.describe('Volts at the supply; null for a router without a sensor'),
  })
  .meta({
    id: 'HealthStep',
    examples: [
      {
        from: '2031-05-01T08:30:00.000Z',
        to: '2031-05-01T08:45:00.000Z',
        cpu_load_percent: { min: 2, mean: 6.4, max: 31 },
        memory_used_percent: { min: 41.2, mean: 41.3, max: 41.9 },
        disk_used_percent: { min: 73.1, mean: 73.1, max: 73.1 },
        temperature_celsius: { min: 38, mean: 38.4, max: 39 },
        voltage: { min: 23.9, mean: 24.02, max: 24.1 },
      },
    ],
  });

export interface HealthRoutesDeps {
  routers: Pick<RoutersService, 'getRouter'>;
  health: Pick<RouterHealth, 'points'>;
  now: () => number;
}

export function healthRoutes(app: App, { routers, health, now }: HealthRoutesDeps): void {
  app.get(
    '/api/routers/:router_id/health',
    {
      schema: {
        tags: ['routers'],
        operationId: 'getRouterHealth',
        summary: 'Read the health of a router over time, oldest first: processor, memory, disk, temperature, voltage',
        description: 'Steps without a report are omitted: the router did not answer, or no control plane ran.',
        params: routerParams,
        querystring: stepQuery,
        response: { 200: envelope(stepsOf(pointSchema)), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const range = readStepRange(request.query, now());
      const { id } = await routers.getRouter(teamId, request.params.router_id, { orRemoved: true });
      const points = await health.points(teamId, id, range);
      return success(presentSteps(range, points.map(present)));
    },
  );
}

function present({ from, to, cpu, memory, disk, celsius, volts }: HealthPoint): z.infer<typeof pointSchema> {
  return {
    from: toDateTime(from),
    to: toDateTime(to),
    cpu_load_percent: cpu,
    memory_used_percent: memory,
    disk_used_percent: disk,
    temperature_celsius: celsius,
    voltage: volts,
  };
}
