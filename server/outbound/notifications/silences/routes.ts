import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { momentField, pathId, textField, uuidField } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { SilencesService } from './service.ts';
import type { Silence } from './types.ts';

const MAX_REASON_CHARS = 500;

const newSilenceBody = z
  .object({
    router_id: uuidField.nullable().optional().describe('Only this router'),
    site_id: uuidField.nullable().optional().describe('Only this site. Neither a router nor a site: the whole team'),
    from: momentField.optional().describe('Now by default'),
    until: momentField.describe('At most 90 days after `from`'),
    reason: textField(MAX_REASON_CHARS).trim().min(1),
  })
  .meta({ id: 'NewSilence', examples: [{ until: '2031-05-01T06:00:00Z', reason: 'Change of the core switch' }] });

const silenceSchema = z
  .object({
    id: z.string(),
    router_id: z.string().nullable(),
    site_id: z.string().nullable(),
    from: dateTime,
    until: dateTime,
    reason: z.string(),
    active_now: z.boolean(),
    created_by: z.string().describe('Id of the person or API key'),
    created_at: dateTime,
  })
  .meta({
    id: 'Silence',
    examples: [
      {
        id: '01a1fba7-2e4f-7b54-8c11-d4f2a6c8e0b2',
        router_id: null,
        site_id: '01a1fba1-77c3-7e02-b5d4-2f8a6c0e4d91',
        from: '2031-05-01T04:00:00.000Z',
        until: '2031-05-01T06:00:00.000Z',
        reason: 'Change of the core switch',
        active_now: true,
        created_by: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        created_at: '2031-05-01T03:30:00.000Z',
      },
    ],
  });
const tags = ['notifications'];

export interface SilenceRoutesDeps {
  silences: SilencesService;
  now: () => number;
}

export function silenceRoutes(app: App, { silences, now }: SilenceRoutesDeps): void {
  app.get(
    '/api/silences',
    {
      schema: {
        tags,
        summary: 'List the silences of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(silenceSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await silences.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, (silence) => ({ at: silence.createdAt, id: silence.id }));
      return success(list.map((silence) => present(silence, now())));
    },
  );
  app.post(
    '/api/silences',
    {
      config: { role: 'operator' },
      schema: {
        tags,
        summary: 'Silence a router, a site or the whole team for a time',
        body: newSilenceBody,
        response: { 200: envelope(silenceSchema), ...commonErrors, 409: problemSchema.describe('Too many silences') },
      },
    },
    async (request) => {
      const { teamId, kind, id } = principalOf(request);
      const { router_id: routerId = null, site_id: siteId = null, from, until, reason } = request.body;
      const times = { from: from === undefined ? undefined : Date.parse(from), until: Date.parse(until) };
      const silence = await silences.create(teamId, { kind, id }, { routerId, siteId, ...times, reason });
      request.auditDetail = `silence ${silence.id}: ${reason}`;
      return success(present(silence, now()));
    },
  );
  app.delete(
    '/api/silences/:silence_id',
    {
      config: { role: 'operator' },
      schema: {
        tags,
        summary: 'End a silence',
        params: z.object({ silence_id: pathId }),
        response: { 204: z.null().describe('Ended'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await silences.delete(principalOf(request).teamId, request.params.silence_id);
      return reply.code(204).send(null);
    },
  );
}

function present(silence: Silence, now: number): z.infer<typeof silenceSchema> {
  return {
    id: silence.id,
    router_id: silence.routerId,
    site_id: silence.siteId,
    from: toDateTime(silence.from),
    until: toDateTime(silence.until),
    reason: silence.reason,
    active_now: silence.from <= now && now < silence.until,
    created_by: silence.createdBy.id,
    created_at: toDateTime(silence.createdAt),
  };
}
