import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { AppError, invalidField } from '../../../platform/core/errors.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import type { PreferencesService } from './service.ts';
import type { Preferences } from './types.ts';

/** Columns, sizes and colours of an application; not a place for files. */
const MOST_BYTES = 16 * 1024;

const document = z
  .record(z.string(), z.unknown())
  .describe(`A JSON object of at most ${MOST_BYTES / 1024} kB; Signalbox does not read it`)
  .meta({ id: 'Preferences', examples: [{ theme: 'dark', routers: { columns: ['identity', 'state'] } }] });

const tags = ['account'];

/** What the signed-in person has set in the application. */
export function preferenceRoutes(app: App, { preferences }: { preferences: PreferencesService }): void {
  app.get(
    '/api/me/preferences',
    {
      schema: {
        tags,
        operationId: 'getPreferences',
        summary: 'Read your preferences; `ETag` is their version',
        response: { 200: envelope(document), ...commonErrors },
      },
    },
    async (request, reply) => answer(reply, await preferences.get(principalOf(request))),
  );
  app.put(
    '/api/me/preferences',
    {
      schema: {
        tags,
        operationId: 'putPreferences',
        summary: 'Replace your preferences; with `If-Match` only if they have not changed since you read them',
        headers: z.object({ 'if-match': z.string().max(100).optional().describe('The `ETag` of the version that you have read') }),
        body: document,
        response: {
          200: envelope(document),
          ...commonErrors,
          412: problemSchema.describe('They have changed since you read them'),
          413: problemSchema.describe('They are too long'),
        },
      },
    },
    async (request, reply) => {
      const seen = readVersion(request.headers['if-match']);
      if (Buffer.byteLength(JSON.stringify(request.body)) > MOST_BYTES)
        throw new AppError('too_large', `preferences have at most ${MOST_BYTES / 1024} kB`);
      return answer(reply, await preferences.put(principalOf(request), request.body, seen));
    },
  );
}

function answer(reply: FastifyReply, { content, version }: Preferences) {
  reply.header('etag', `"${version}"`);
  return success(content);
}

/** Proxies that compress make an ETag weak. @throws AppError `invalid` for what was never an ETag of preferences */
function readVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const match = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim());
  if (!match) throw invalidField('if-match', 'is not an ETag of your preferences');
  return Number(match[1]);
}
