import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { momentField, pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { AuditService } from './service.ts';
import type { AuditFilter, ListedAuditEntry } from './types.ts';

const entrySchema = z
  .object({
    id: z.string(),
    at: dateTime,
    actor_kind: z.string().describe('api_key or user; invitation or enrol_token for a caller who presented one'),
    actor_id: z.string(),
    actor_name: z.string().nullable().describe('Name of the API key, or email address of the user'),
    source: z.string().describe('Address the request came from'),
    action: z.string().describe('Method and route'),
    target: z.string().nullable().describe('Path of the request'),
    result: z.int().describe('HTTP status of the answer; 101 when a WebSocket was opened'),
    detail: z
      .string()
      .nullable()
      .describe('What the request created, where the path does not show it: for a forward its id, destination and source'),
  })
  .meta({
    id: 'AuditEntry',
    examples: [
      {
        id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        at: '2031-05-01T08:30:00.000Z',
        actor_kind: 'api_key',
        actor_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        actor_name: 'billing',
        source: '203.0.113.7',
        action: 'POST /api/synchronous/:router_id',
        target: '/api/synchronous/01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        result: 200,
        detail: null,
      },
    ],
  });

const filterQuery = pageQuery.extend({
  actor: pathId.optional().describe('Id of a key or user'),
  action: z.string().min(1).max(200).optional().describe('Prefix of the action: DELETE, or POST /api/synchronous'),
  since: momentField.optional().describe('At this moment or later'),
  until: momentField.optional().describe('Before this moment'),
});

export function auditRoutes(app: App, deps: { audit: Pick<AuditService, 'list'> }): void {
  app.get(
    '/api/audit',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['audit'],
        operationId: 'listAuditEntries',
        summary: 'List audit entries, newest first',
        querystring: filterQuery,
        response: { 200: envelope(z.array(entrySchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const entries = await deps.audit.list(principalOf(request).teamId, readFilter(request.query), page);
      linkNext(request, reply, page, entries, (entry) => ({ at: entry.at, id: entry.id }));
      return success(entries.map(present));
    },
  );
}

function readFilter({ actor, action, since, until }: z.infer<typeof filterQuery>): AuditFilter {
  return { actor, action, since: millis(since), until: millis(until) };
}

function millis(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment);
}

function present(entry: ListedAuditEntry): z.infer<typeof entrySchema> {
  return {
    id: entry.id,
    at: toDateTime(entry.at),
    actor_kind: entry.actor_kind,
    actor_id: entry.actor_id,
    actor_name: entry.actor_name,
    source: entry.source,
    action: entry.action,
    target: entry.target,
    result: entry.result,
    detail: entry.detail ?? null,
  };
}
