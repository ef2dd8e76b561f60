import { z } from 'zod';
import { isStillAllowed } from '../../platform/core/principal.ts';
import type { App } from '../../platform/http/app.ts';
import { bearerOf, principalOf } from '../../platform/http/authentication.ts';
import type { Authenticate } from '../../platform/http/authentication.ts';
import { commonErrors } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { uuidField } from '../../platform/http/fields.ts';
import type { EventsService } from './service.ts';
import { EVENT_TYPES, RESYNC } from './types.ts';

const MAX_ID_CHARS = 100;
/** Forwards that one stream watches: more than a screen shows. With 100 streams a team reads at most 2,000 rows every 2 s. */
const MOST_WATCHED = 20;

const query = z.object({
  types: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(z.enum(EVENT_TYPES)).max(EVENT_TYPES.length))
    .optional()
    .describe('Event types to receive. Default: all'),
  watch: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(uuidField).min(1).max(MOST_WATCHED))
    .optional()
    .describe('Ids of forwards, separated by commas: the stream also has their `forward.traffic`'),
});

const description = `Server-sent events (\`text/event-stream\`): \`id\`, \`event\` and \`data\`, a JSON object with \`at\`, the ids of the
record and what changed. Types: ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}.

After a break, send the last id seen as \`Last-Event-ID\` (browsers do so automatically): the stream starts with the missed events. When
they are no longer known (after a crash, or after too many events), and when the clock of the server is set, one event \`${RESYNC}\` comes
instead: read your data again. Comments keep the connection alive. \`campaign.progress\` comes at most once a second for each campaign,
\`forward.traffic\` at most once in 2 s and only for open forwards that \`watch\` names; it has no \`id\` and is not repeated.
\`notification.changed\` comes at most once in 2 s and names no record: threads or messages of notifications have changed,
or a receiver has switched its address off. Events of groups, topics, schedules, targets and silences have the id, and the \`name\` while there
is one; records that go with another one (a silence with its site) have no event of their own.

A stream counts as one request, however long it is open. The server closes a stream that is not read, and one whose key is revoked.`;

export interface EventRoutesDeps {
  events: EventsService;
  authenticate: Authenticate;
}

export function eventRoutes(app: App, deps: EventRoutesDeps): void {
  app.get(
    '/api/events',
    {
      // A HEAD request would open a stream without a reader.
      exposeHeadRoute: false,
      schema: {
        tags: ['events'],
        operationId: 'streamEvents',
        summary: 'Stream events about the records of the team',
        description,
        headers: z.object({ 'last-event-id': z.string().max(MAX_ID_CHARS).optional() }),
        querystring: query,
        response: {
          200: { description: 'Events, until one side closes the stream', content: { 'text/event-stream': { schema: z.string() } } },
          ...commonErrors,
          409: problemSchema.describe('The key or the team has too many open streams'),
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
        watched: request.query.watch,
        isStillAllowed: async () => isStillAllowed(await deps.authenticate(bearer), principal, 'viewer'),
      });
      // Some proxies buffer answers.
      reply.header('x-accel-buffering', 'no').header('cache-control', 'no-store');
      return reply.type('text/event-stream').send(stream as never);
    },
  );
}
