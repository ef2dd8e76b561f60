import { z } from 'zod';
import { isStillAllowed } from '../../platform/core/principal.ts';
import type { App } from '../../platform/http/app.ts';
import { bearerOf, principalOf } from '../../platform/http/authentication.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';
import { commonErrors } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import type { EventsService } from './service.ts';
import { EVENT_TYPES, RESYNC } from './types.ts';

const MAX_ID_CHARS = 100;

const query = z.object({
  types: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(z.enum(EVENT_TYPES)).max(EVENT_TYPES.length))
    .optional()
    .describe('Kinds of events wanted; all when missing'),
});

const description = `Server-sent events (\`text/event-stream\`): \`id\`, \`event\` and \`data\`, a JSON object with \`at\`, the ids of the
record and what changed. Kinds: ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}.

After a break, send the last id seen as \`Last-Event-ID\` (browsers do so by themselves): what was missed comes first. When
that is not known any more (the server was not stopped properly, or too much has happened since), one event \`${RESYNC}\` comes instead: read again what matters. Comments keep the line alive. A
stream counts as one request, however long it is open; one that is not read, or whose key is revoked, is cut.`;

export interface EventRoutesDeps {
  events: EventsService;
  authenticate: Authenticate;
}

export function eventRoutes(app: App, deps: EventRoutesDeps): void {
  app.get(
    '/api/events',
    {
      // A HEAD would open a stream that nobody reads.
      exposeHeadRoute: false,
      schema: {
        tags: ['events'],
        operationId: 'streamEvents',
        summary: 'Listen to what happens to the records of the team',
        description,
        headers: z.object({ 'last-event-id': z.string().max(MAX_ID_CHARS).optional() }),
        querystring: query,
        response: {
          200: { description: 'Events, until one side ends it', content: { 'text/event-stream': { schema: z.string() } } },
          ...commonErrors,
          409: problemSchema.describe('The key or the team has too many streams open'),
        },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const bearer = bearerOf(request.headers.authorization) ?? '';
      const stream = deps.events.open({
        teamId: principal.teamId,
        callerId: principal.id,
        lastEventId: request.headers['last-event-id'],
        types: request.query.types ?? [],
        isStillAllowed: async () => isStillAllowed(await deps.authenticate(bearer), principal, 'viewer'),
      });
      // Some proxies collect answers before they pass them on.
      reply.header('x-accel-buffering', 'no').header('cache-control', 'no-store');
      return reply.type('text/event-stream').send(stream as never);
    },
  );
}
