import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { RevocationsService } from './service.ts';
import { KINDS, NOTHING } from './types.ts';
import type { Revocation } from './types.ts';

const some = (what: string) => z.object({ count: z.number(), ids: z.array(z.string()).describe('The first hundred') }).describe(what);

const revocationSchema = z
  .object({
    id: z.string(),
    kind: z
      .enum(KINDS)
      .describe(
        'What was revoked. Members and clients: removed, switched off or given a lower role. `password`: a person has a new password',
      ),
    subject_id: z.string().describe('Id of the key, person, client or agent'),
    created_at: dateTime,
    settled: z.boolean().describe('False for about a minute, while requests in progress may still open something'),
    ended: z.object({
      forwards: some('Forwards, with their ports and connections'),
      jobs: some('Jobs that had not begun'),
      campaigns: some('Campaigns, with their rounds that had not begun'),
      terminals: some('Terminals; also those of a level that needs a higher role than the new one'),
      api_keys: some('API keys created by the subject, if their revocation was requested'),
    }),
    goes_on: z.object({
      jobs: some('Jobs whose scripts have begun, or whose agents have not answered yet'),
      api_keys: some('API keys created by the subject; they still work'),
    }),
  })
  .meta({
    id: 'Revocation',
    examples: [
      {
        id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        kind: 'api_key' as const,
        subject_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        created_at: '2031-05-01T08:30:00.000Z',
        settled: true,
        ended: {
          forwards: { count: 1, ids: ['01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24'] },
          jobs: NOTHING,
          campaigns: NOTHING,
          terminals: NOTHING,
          api_keys: NOTHING,
        },
        goes_on: { jobs: NOTHING, api_keys: NOTHING },
      },
    ],
  });

export function revocationRoutes(app: App, { revocations }: { revocations: Pick<RevocationsService, 'list'> }): void {
  app.get(
    '/api/revocations',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['audit'],
        operationId: 'listRevocations',
        summary: 'List revocations with what they ended and what continues, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(revocationSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await revocations.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, ({ createdAt, id }) => ({ at: createdAt, id }));
      return success(list.map(present));
    },
  );
}

function present({ id, kind, subjectId, createdAt, dueAt, report }: Revocation): z.infer<typeof revocationSchema> {
  return { id, kind, subject_id: subjectId, created_at: toDateTime(createdAt), settled: dueAt === null, ...report };
}
