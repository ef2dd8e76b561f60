import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { ForwardsService } from '../service.ts';
import type { ListedConnection } from '../types.ts';

const connectionSchema = z
  .object({
    id: z.string(),
    source: z.string(),
    opened_at: dateTime,
    closed_at: dateTime.nullable().describe('null while it is open'),
    bytes_in: z.int().describe('From the client to the target, so far'),
    bytes_out: z.int().describe('From the target to the client, so far'),
    ended_by: z
      .string()
      .describe(
        'open while it is open, then closed, client, target, channel, no_channel, idle, expired, revoked, source, node_lost, shutdown or unknown',
      ),
  })
  .meta({
    id: 'ForwardConnection',
    examples: [
      {
        id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        source: '203.0.113.7:50312',
        opened_at: '2031-05-01T08:31:00.000Z',
        closed_at: '2031-05-01T08:35:00.000Z',
        bytes_in: 4096,
        bytes_out: 65536,
        ended_by: 'closed',
      },
    ],
  });

export function forwardConnectionRoutes(app: App, { forwards }: { forwards: ForwardsService }): void {
  app.get(
    '/api/routers/:router_id/transient-forwarding/:id/connections',
    {
      schema: {
        tags: ['forwards'],
        operationId: 'listForwardConnections',
        summary: 'List the connections of a forward, including open ones, newest first',
        params: routerParams.extend({ id: pathId }),
        querystring: pageQuery,
        response: { 200: envelope(z.array(connectionSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { router_id: routerId, id } = request.params;
      const records = await forwards.connections(principalOf(request).teamId, routerId, id, page);
      linkNext(request, reply, page, records, (record) => ({ at: record.opened_at, id: record.id }));
      return success(records.map(presentConnection));
    },
  );
}

function presentConnection(record: ListedConnection): z.infer<typeof connectionSchema> {
  return {
    id: record.id,
    source: record.source,
    opened_at: toDateTime(record.opened_at),
    closed_at: toDateTimeOrNull(record.closed_at),
    bytes_in: record.bytes_in,
    bytes_out: record.bytes_out,
    ended_by: record.ended_by,
  };
}
