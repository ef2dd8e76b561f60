import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { searchField } from '../../platform/http/list-query.ts';
import { ROUTER_STATES } from '../states/types.ts';
import { MOST_FOUND } from './service.ts';
import type { SearchService } from './service.ts';
import { FOUND_KINDS } from './types.ts';
import type { FoundKind, Match } from './types.ts';

const matchSchema = z
  .object({
    kind: z.enum(FOUND_KINDS),
    id: z.string().describe('Of the record; the MAC address of a device'),
    name: z.string(),
    detail: z
      .string()
      .nullable()
      .describe(
        'What tells it from others of the same name: model and serial number, version of an agent, manufacturer, state of a campaign, status of a job',
      ),
    match: z
      .enum(['exact', 'beginning', 'part'])
      .describe('Whether the text is a whole field of the record, its beginning, or a part of it'),
    site_id: z.string().nullable(),
    router_id: z.string().nullable().describe('The router of a job'),
    state: z.enum(ROUTER_STATES).nullable().describe('Of a router'),
    state_since: dateTime.nullable(),
    path: z.string().describe('Where the API shows the record'),
  })
  .meta({
    id: 'Match',
    examples: [
      {
        kind: 'router',
        id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        name: 'gw-depot',
        detail: 'RB4011iGS+, 9A8B7C6D5E4F',
        match: 'beginning',
        site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        router_id: null,
        state: 'answering',
        state_since: '2031-05-01T08:30:00.000Z',
        path: '/api/routers/01a1fb9c-376e-7279-a064-482cecad7b5b',
      },
    ],
  });

const query = z.object({ q: searchField.describe('Text, an id, or a MAC address in any spelling') });

export function searchRoute(app: App, { search }: { search: Pick<SearchService, 'search'> }): void {
  app.get(
    '/api/search',
    {
      schema: {
        tags: ['routers'],
        operationId: 'search',
        summary: `Find routers, agents, sites, devices, campaigns and jobs, at most ${MOST_FOUND}, the closest matches first`,
        querystring: query,
        response: { 200: envelope(z.array(matchSchema)), ...commonErrors },
      },
    },
    async (request) => success((await search.search(principalOf(request).teamId, request.query.q)).map(present)),
  );
}

const MATCHES = { whole: 'exact', beginning: 'beginning', anywhere: 'part' } as const;

const PATHS: Record<FoundKind, (match: Match) => string> = {
  router: ({ id }) => `/api/routers/${id}`,
  agent: ({ id }) => `/api/agents/${id}`,
  site: ({ id }) => `/api/sites/${id}`,
  device: ({ id }) => `/arp/devices/${id}`,
  campaign: ({ id }) => `/api/campaigns/${id}`,
  job: ({ id, routerId }) => `/api/routers/${routerId}/jobs/${id}`,
};

function present(match: Match): z.infer<typeof matchSchema> {
  const { kind, id, name, detail, place, siteId, routerId, state } = match;
  return {
    kind,
    id,
    name,
    detail,
    match: MATCHES[place],
    site_id: siteId,
    router_id: routerId,
    state: state?.state ?? null,
    state_since: toDateTimeOrNull(state?.since ?? null),
    path: PATHS[kind](match),
  };
}
