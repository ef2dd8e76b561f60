import { z } from 'zod';
import { TUNNEL_ENDS } from '../../platform/core/tunnel-record.ts';
import type { EndedBy } from '../../platform/core/tunnel-record.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { AgentsService } from '../agents/service.ts';
import type { SessionsService } from './service.ts';
import type { SessionRow } from './types.ts';

const milliseconds = z.number().describe('Milliseconds');

const sessionSchema = z
  .object({
    id: z.string(),
    epoch: z.int().nullable().describe('Counts the connections of an agent; null when it ended before `welcome`'),
    opened_at: dateTime,
    ready_at: dateTime.nullable().describe('Null: it never became ready'),
    closed_at: dateTime.nullable().describe('Null while it is open. After `silence`, the time of the last byte received'),
    address: z.string().describe('Source address, as the control plane sees it'),
    agent_version: z.string().nullable(),
    reset: z.boolean().describe("The agent's journal of jobs could not be trusted"),
    ended_by: z.enum(TUNNEL_ENDS).nullable().describe('Null while it is open; `unknown` after the control plane was killed'),
    round_trip_ms: z
      .object({ min: milliseconds, p50: milliseconds, p95: milliseconds })
      .nullable()
      .describe('Of the pings that find dead links; null before the first answer'),
    pings_lost: z.int().describe('No answer came before the next ping'),
    bytes_in: z.int().nullable().describe('From the agent; null when the control plane was killed'),
    bytes_out: z.int().nullable(),
  })
  .meta({
    id: 'AgentSession',
    examples: [
      {
        id: '01a1fba3-2c11-7d2c-9f0e-3a1c5e7b9d24',
        epoch: 17,
        opened_at: '2031-05-01T08:30:00.000Z',
        ready_at: '2031-05-01T08:30:00.210Z',
        closed_at: '2031-05-01T19:02:41.120Z',
        address: '203.0.113.7',
        agent_version: '0.1.0',
        reset: false,
        ended_by: 'silence',
        round_trip_ms: { min: 11.2, p50: 13.9, p95: 41.3 },
        pings_lost: 2,
        bytes_in: 1_204_332,
        bytes_out: 240_118,
      },
    ],
  });

interface SessionRoutesDeps {
  agents: Pick<AgentsService, 'get'>;
  sessions: SessionsService;
}

export function sessionRoutes(app: App, { agents, sessions }: SessionRoutesDeps): void {
  app.get(
    '/api/agents/:agent_id/sessions',
    {
      schema: {
        tags: ['agents'],
        operationId: 'listAgentSessions',
        summary: 'List the sessions of an agent, newest first, with source address, link quality and how each one ended',
        params: z.object({ agent_id: pathId }),
        querystring: pageQuery,
        response: { 200: envelope(z.array(sessionSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { teamId } = principalOf(request);
      const { id } = await agents.get(teamId, request.params.agent_id);
      const rows = await sessions.list(teamId, id, page);
      linkNext(request, reply, page, rows, (row) => ({ at: row.opened_at, id: row.id }));
      return success(rows.map(present));
    },
  );
}

function present(row: SessionRow): z.infer<typeof sessionSchema> {
  return {
    id: row.id,
    epoch: row.epoch,
    opened_at: toDateTime(row.opened_at),
    ready_at: toDateTimeOrNull(row.ready_at),
    closed_at: toDateTimeOrNull(row.closed_at),
    address: row.address,
    agent_version: row.agent_version,
    reset: row.reset === 1,
    ended_by: row.ended_by as EndedBy | null,
    round_trip_ms: roundTrip(row),
    pings_lost: row.pings_lost,
    bytes_in: row.bytes_in,
    bytes_out: row.bytes_out,
  };
}

function roundTrip({
  round_trip_min_us: min,
  round_trip_p50_us: p50,
  round_trip_p95_us: p95,
}: SessionRow): { min: number; p50: number; p95: number } | null {
  return min === null || p50 === null || p95 === null ? null : { min: min / 1000, p50: p50 / 1000, p95: p95 / 1000 };
}
