import { z } from 'zod';
import { invalidField } from '../../../platform/core/errors.ts';
import { chosen } from '../../../platform/core/list-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors } from '../../../platform/http/envelope.ts';
import {
  answerList,
  idsFilter,
  listEnvelope,
  listQuery,
  readAmong,
  readIds,
  readListPage,
  searchField,
  textsFilter,
  wordsFilter,
} from '../../../platform/http/list-query.ts';
import type { ListShape } from '../../../platform/http/list-query.ts';
import type { StatesService } from '../../states/service.ts';
import { ROUTER_STATES } from '../../states/types.ts';
import type { StateOfRouter } from '../../states/types.ts';
import { presentRouter, routerSchema } from '../routes.ts';
import type { RouterRoutesDeps } from '../routes.ts';
import type { RouterRecord } from '../types.ts';
import type { RouterFilter, RouterSort, StateFilter } from './types.ts';
import { readVersionBound, VERSION_BOUND } from './version-bound.ts';

/** A whole fleet in one answer: 5,000 routers are about 2 MB, and a tenth of that compressed. */
const MOST_PER_PAGE = 5000;
/** A lower and an upper bound, and two versions that are left out. */
const MOST_BOUNDS = 4;

const shape = {
  name: 'routers',
  sorts: { created_at: 'number', identity: 'text', model: 'text', version: 'text', state_since: 'number' },
  defaultSort: '-created_at',
  item: routerSchema,
  mostPerPage: MOST_PER_PAGE,
} as const satisfies ListShape<RouterSort, string>;

const query = listQuery(shape).extend({
  state: wordsFilter(ROUTER_STATES).describe('The state of the router and its agent together'),
  removed: z.enum(['true', 'false']).optional().describe('true: those that were removed, instead'),
  site_id: idsFilter.describe('Where they stand: ids, or `none`; `!` before one leaves it out'),
  agent_id: idsFilter.describe('Whose they are'),
  version: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',') : value),
      z
        .array(z.string().regex(VERSION_BOUND, 'must be a version with <, <=, >, >=, = or ! before it, or a series like 7 or 7.18'))
        .min(1)
        .max(MOST_BOUNDS),
    )
    .optional()
    .describe(
      '`<7.15`, `>=7.10,<7.15`, `=7.18`, `7.18` (with 7.18.1 and so on), `!6`; all of them hold. Betas and candidates come before their release',
    ),
  model: textsFilter.describe('Models as `model` has them'),
  q: searchField.optional().describe('Text in the identity, serial number, software id, model, board name or version'),
});

export interface RouterListDeps extends RouterRoutesDeps {
  states: Pick<StatesService, 'of' | 'ofTeam'>;
}

export function routerListRoute(app: App, deps: RouterListDeps): void {
  const { routers, agents } = deps;
  app.get(
    '/api/routers',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listRouters',
        summary: 'List the routers of the team, newest first unless asked otherwise',
        querystring: query,
        response: { 200: listEnvelope(routerSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readListPage<RouterSort>(shape, request.query);
      const wantsTotal = request.query.total === 'true';
      const { teamId } = principalOf(request);
      const states = readStates(request.query, page.sort, { teamId, ...deps });
      const found = await routers.listRouters(teamId, readFilter(request.query), page, { wantsTotal, states });
      const keyOf = (router: RouterRecord) => ({
        value: page.sort === 'state_since' ? (states?.get(router.id)?.since ?? 0) : VALUE_OF[page.sort](router),
        id: router.id,
      });
      const names = await agents.names(
        teamId,
        found.rows.map((router) => router.agent_id),
      );
      return answerList({ request, reply, shape, page }, found, keyOf, (router) => presentRouter(router, deps, names));
    },
  );
}

/** Undefined when states do not matter. A removed router has none. Read once, so that the cursor has the value by which the page was chosen. */
function readStates(
  { state, removed }: z.infer<typeof query>,
  sort: RouterSort,
  { teamId, states }: Pick<RouterListDeps, 'states'> & { teamId: string },
): StateFilter | undefined {
  if (state === undefined && sort !== 'state_since') return undefined;
  if (removed === 'true') throw invalidField(state === undefined ? 'sort' : 'state', 'removed routers have no state');
  const wanted = new Set(chosen(ROUTER_STATES, readAmong(state)));
  const found = new Map<string, StateOfRouter>();
  for (const router of states.ofTeam(teamId)) if (wanted.has(router.state)) found.set(router.id, router);
  return found;
}

const VALUE_OF: Record<Exclude<RouterSort, 'state_since'>, (router: RouterRecord) => string | number> = {
  created_at: (router) => router.created_at,
  identity: (router) => router.identity,
  model: (router) => router.model ?? '',
  version: (router) => router.version_key,
};

function readFilter(given: z.infer<typeof query>): RouterFilter {
  return {
    removed: given.removed === 'true',
    sites: readIds(given.site_id),
    agents: readIds(given.agent_id),
    models: readAmong(given.model),
    versions: (given.version ?? []).map(readVersionBound).filter((bound) => bound !== undefined),
    search: given.q,
  };
}
