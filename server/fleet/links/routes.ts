import { z } from 'zod';
import { readStepRange } from '../../platform/core/time-steps.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { pathId } from '../../platform/http/fields.ts';
import { presentSteps, stepQuery, stepsOf } from '../../platform/http/step-query.ts';
import type { AgentsService } from '../agents/service.ts';
import type { LinkQuality } from './service.ts';
import type { LinkPoint } from './types.ts';

const milliseconds = z.number().describe('Milliseconds');

const pointSchema = z
  .object({
    from: dateTime,
    to: dateTime.describe('Later than requested where only hours are kept'),
    pings_sent: z.int().describe('Answered and lost ones'),
    pings_lost: z.int().describe('No answer came before the next ping'),
    loss_percent: z.number(),
    round_trip_ms: z.object({ min: milliseconds, p50: milliseconds, p95: milliseconds }).nullable().describe('Null: no ping was answered'),
  })
  .meta({
    id: 'LinkStep',
    examples: [
      {
        from: '2031-05-01T08:30:00.000Z',
        to: '2031-05-01T08:45:00.000Z',
        pings_sent: 40,
        pings_lost: 1,
        loss_percent: 2.5,
        round_trip_ms: { min: 11.2, p50: 13.9, p95: 41.3 },
      },
    ],
  });

export interface LinkRoutesDeps {
  agents: Pick<AgentsService, 'get'>;
  links: Pick<LinkQuality, 'points'>;
  now: () => number;
}

export function linkRoutes(app: App, { agents, links, now }: LinkRoutesDeps): void {
  app.get(
    '/api/agents/:agent_id/link',
    {
      schema: {
        tags: ['agents'],
        operationId: 'getAgentLink',
        summary: 'Read the link quality of an agent over time, oldest first: round trips and lost pings of its tunnels',
        description: 'Steps without a ping are omitted: the agent was not connected, or no control plane ran.',
        params: z.object({ agent_id: pathId }),
        querystring: stepQuery,
        response: { 200: envelope(stepsOf(pointSchema)), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const range = readStepRange(request.query, now());
      const { id } = await agents.get(teamId, request.params.agent_id);
      const points = await links.points(teamId, id, range);
      return success(presentSteps(range, points.map(present)));
    },
  );
}

function present({ from, to, pingsAnswered, pingsLost, roundTrip }: LinkPoint): z.infer<typeof pointSchema> {
  const sent = pingsAnswered + pingsLost;
  return {
    from: toDateTime(from),
    to: toDateTime(to),
    pings_sent: sent,
    pings_lost: pingsLost,
    loss_percent: Math.round((1000 * pingsLost) / Math.max(sent, 1)) / 10,
    round_trip_ms: roundTrip && { min: rounded(roundTrip.min), p50: rounded(roundTrip.p50), p95: rounded(roundTrip.p95) },
  };
}

/** Milliseconds with three digits, as they are measured. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
