import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime } from '../../platform/http/envelope.ts';
import { inPieces, sendJson } from '../../platform/http/json-pieces.ts';
import { momentField, uuidField } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { ianaTimeZone } from '../../platform/core/time-zone.ts';
import { MOST_BUCKETS, MOST_BUCKETS_EACH } from './service.ts';
import type { AvailabilityService, Question } from './service.ts';
import { percentOf, sum } from './tally.ts';
import { BUCKET_SIZES } from './types.ts';
import type { Availability, Shares } from './types.ts';

/** Routers of one page, and ids of one request: more would not fit into the line of a request. */
const MOST_ROUTERS = 200;

/** Routers that are written in one turn: a thousand buckets, some five milliseconds. */
const ROUTERS_OF_PIECE = 10;

const seconds = z.number().describe('Seconds, to a thousandth');
const shares = {
  answering: seconds,
  not_answering: seconds,
  agent_away: seconds,
  unknown: seconds.describe('No control plane was running, or the router had never been reported: neither up nor down'),
  percent_of_known: z
    .number()
    .nullable()
    .describe('`answering` of the time that is not `unknown`, rounded down to a thousandth; null when nothing is known'),
};

const availabilitySchema = z
  .object({
    router_id: z.string(),
    time_zone: z.string().describe('In which days and weeks begin'),
    total: z.object(shares).describe('Of all buckets together'),
    buckets: z
      .array(z.object({ from: dateTime, to: dateTime, ...shares }))
      .describe('Oldest first, without gaps. The states of a bucket add up to its length'),
  })
  .meta({
    id: 'RouterAvailability',
    examples: [
      {
        router_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        time_zone: 'Europe/Berlin',
        total: { answering: 86_100, not_answering: 0, agent_away: 300, unknown: 3600, percent_of_known: 99.652 },
        buckets: [
          {
            from: '2030-10-26T22:00:00.000Z',
            to: '2030-10-27T23:00:00.000Z',
            answering: 86_100,
            not_answering: 0,
            agent_away: 300,
            unknown: 3600,
            percent_of_known: 99.652,
          },
        ],
      },
    ],
  });

const question = {
  from: momentField.optional().describe('Default: the last 24 hours, 28 days or 13 weeks, including the current one'),
  to: momentField.optional().describe('Now when missing or in the future'),
  time_zone: z
    .string()
    .max(100)
    .refine((name) => ianaTimeZone(name) !== undefined, 'is not an IANA time zone')
    .optional()
    .describe("Zone in which days and weeks begin. Default: the zone of the router's site, else the router's, else UTC"),
  bucket: z
    .enum(BUCKET_SIZES)
    .default('day')
    .describe('A day has 23 or 25 hours when the clocks change. The first and the last may be cut'),
};

export function availabilityRoutes(app: App, { availability }: { availability: AvailabilityService }): void {
  app.get(
    '/api/routers/:router_id/availability',
    {
      schema: {
        tags: ['routers'],
        operationId: 'getRouterAvailability',
        summary: `Read how long a router was in each state, in up to ${MOST_BUCKETS} hours, days or weeks`,
        params: routerParams,
        querystring: z.object(question),
        response: { 200: envelope(availabilitySchema), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      return success(present(await availability.ofRouter(teamId, request.params.router_id, readQuestion(request.query))));
    },
  );

  app.get(
    '/api/availability',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listAvailability',
        summary: `Read the availability of many routers, newest first, in up to ${MOST_BUCKETS_EACH} hours, days or weeks each`,
        querystring: pageQuery.extend({
          ...question,
          limit: z.coerce.number().int().min(1).max(MOST_ROUTERS).optional().describe(`Routers of one page; ${MOST_ROUTERS} when missing`),
          router_ids: z
            .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(uuidField).min(1).max(MOST_ROUTERS))
            .optional()
            .describe('Separated by commas; default: every router of the team that was not removed. Unknown ids are ignored'),
        }),
        response: { 200: envelope(z.array(availabilitySchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const page = readPage({ ...query, limit: query.limit ?? MOST_ROUTERS });
      const { teamId } = principalOf(request);
      const { routers, availabilities } = await availability.ofRouters(teamId, query.router_ids, readQuestion(query), page);
      linkNext(request, reply, page, routers, (router) => ({ at: router.created_at, id: router.id }));
      const write = (one: Availability): unknown => availabilitySchema.encode(present(one));
      return sendJson(reply, ['{"status":"success","data":', await inPieces(availabilities, write, ROUTERS_OF_PIECE), '}']);
    },
  );
}

function readQuestion({
  bucket: size,
  from,
  to,
  time_zone: timeZone,
}: {
  bucket: Question['size'];
  from?: string | undefined;
  to?: string | undefined;
  time_zone?: string | undefined;
}): Question {
  const momentOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
  return { size, from: momentOf(from), to: momentOf(to), timeZone: timeZone === undefined ? undefined : ianaTimeZone(timeZone) };
}

function present({ routerId, timeZone, buckets }: Availability): z.infer<typeof availabilitySchema> {
  return {
    router_id: routerId,
    time_zone: timeZone,
    total: inSeconds(sum(buckets.map((bucket) => bucket.shares))),
    buckets: buckets.map((bucket) => ({ from: toDateTime(bucket.from), to: toDateTime(bucket.to), ...inSeconds(bucket.shares) })),
  };
}

function inSeconds(parts: Shares) {
  const { answering, not_answering: silent, agent_away: away, unknown } = parts;
  return {
    answering: answering / 1000,
    not_answering: silent / 1000,
    agent_away: away / 1000,
    unknown: unknown / 1000,
    percent_of_known: percentOf(parts),
  };
}
