import { z } from 'zod';
import { TERMINAL_LEVELS } from '../../../protocol/index.ts';
import type { TerminalLevel } from '../../../protocol/index.ts';
import { formatDuration } from '../../../routeros-text/durations.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { uuidField } from '../../platform/http/fields.ts';
import type { AgentsService } from '../agents/service.ts';
import type { StatesService } from '../states/service.ts';
import { ROUTER_STATES } from '../states/types.ts';
import type { SitesService } from '../sites/service.ts';
import type { RoutersService } from './service.ts';
import type { RouterRecord } from './types.ts';
import { formatAgo } from './last-seen.ts';

/** docs/interface.md, router; the fields after `created_at` are additions. */
export const routerSchema = z
  .object({
    id: z.string(),
    identity: z.string(),
    serial_number: z.string().nullable(),
    software_version: z.string(),
    software_id: z.string().nullable(),
    has_pulse: z.boolean(),
    uptime: z.string().nullable(),
    last_seen: z.string(),
    last_seen_from: z.string().nullable(),
    hardware_board: z.boolean(),
    model: z.string().nullable(),
    board_name: z.string(),
    last_seen_at: dateTime.nullable(),
    created_at: dateTime,
    site_id: z.string().nullable(),
    agent_id: z.string(),
    removed_at: dateTime.nullable().describe('When it was removed; null while it belongs to the team'),
    state: z
      .enum(ROUTER_STATES)
      .nullable()
      .describe('The state of the router and its agent together; null for a removed router. See docs/states.md'),
    state_since: dateTime.nullable().describe('After a silent cut, the time of the last byte'),
    state_reason: z.string().nullable().describe('`not_answering`: the word of the agent. `agent_away`: how its last session ended'),
    agent_name: z.string().nullable(),
    terminal_levels: z
      .array(z.enum(TERMINAL_LEVELS))
      .nullable()
      .describe(
        'Which levels of terminals its agent opens on it (docs/terminal.md); empty: none; null: an older agent, which does not say',
      ),
  })
  .meta({
    id: 'Router',
    examples: [
      {
        id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        identity: 'gw-depot',
        serial_number: 'HEX0A1B2C3D',
        software_version: '7.18.2',
        software_id: 'ABCD-EFGH',
        has_pulse: true,
        uptime: '1w2d3h4m5s',
        last_seen: '3 seconds ago',
        last_seen_from: '203.0.113.7',
        hardware_board: true,
        model: 'RBD52G-5HacD2HnD',
        board_name: 'hAP ac^2',
        last_seen_at: '2031-05-01T08:30:00.000Z',
        created_at: '2031-01-15T10:00:00.000Z',
        site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        agent_id: '01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35',
        removed_at: null,
        state: 'answering',
        state_since: '2031-05-01T08:30:00.000Z',
        state_reason: null,
        agent_name: 'gw-depot',
        terminal_levels: ['read'],
      },
    ],
  });

const changeBody = z
  .object({ site_id: uuidField.nullable().optional().describe('Its new site; null: no site') })
  .meta({ id: 'RouterChange', examples: [{ site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24' }] });

export interface RouterRoutesDeps {
  routers: RoutersService;
  agents: Pick<AgentsService, 'names'>;
  states: Pick<StatesService, 'of'>;
  sites: SitesService;
  now: () => number;
}

/** One router; the list of all is in list/routes.ts. */
export function routerRoutes(app: App, deps: RouterRoutesDeps): void {
  const { routers, sites } = deps;
  const tags = ['routers'];
  const response = { 200: envelope(routerSchema), ...commonErrors };
  app.get(
    '/api/routers/:router_id',
    { schema: { tags, summary: 'Read a router, present or removed', params: routerParams, response } },
    async (request) => {
      const router = await routers.getRouter(principalOf(request).teamId, request.params.router_id, { orRemoved: true });
      return success(await present(router, deps));
    },
  );

  app.patch(
    '/api/routers/:router_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Move a router to another site',
        description: 'The devices behind it move with it. Jobs keep the site that they were submitted for.',
        params: routerParams,
        body: changeBody,
        response,
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { router_id: routerId } = request.params;
      const { site_id: siteId } = request.body;
      if (siteId !== undefined) await sites.moveRouter(teamId, routerId, siteId);
      return success(await present(await routers.getRouter(teamId, routerId), deps));
    },
  );
}

async function present(record: RouterRecord, deps: RouterRoutesDeps): Promise<z.infer<typeof routerSchema>> {
  return presentRouter(record, deps, await deps.agents.names(record.team_id, [record.agent_id]));
}

/** @param agentNames by id, at least the name of its agent */
export function presentRouter(
  record: RouterRecord,
  { routers, states, now }: Pick<RouterRoutesDeps, 'routers' | 'states' | 'now'>,
  agentNames: ReadonlyMap<string, string>,
): z.infer<typeof routerSchema> {
  const state = states.of(record.id);
  const presence = routers.presence.get(record.id);
  const uptime = routers.presence.uptimeSeconds(record.id);
  const seenAt = lastSeen(presence.lastSeenAt, state);
  return {
    id: record.id,
    identity: record.identity,
    serial_number: record.serial_number,
    software_version: record.software_version,
    software_id: record.software_id,
    has_pulse: routers.presence.isAnswering(record.id),
    uptime: uptime === null ? null : formatDuration(uptime),
    last_seen: formatAgo(seenAt, now()),
    last_seen_from: presence.lastSeenFrom,
    hardware_board: record.hardware_board === 1,
    model: record.model,
    board_name: record.board_name,
    last_seen_at: toDateTimeOrNull(seenAt),
    created_at: toDateTime(record.created_at),
    site_id: record.site_id,
    agent_id: record.agent_id,
    removed_at: toDateTimeOrNull(record.removed_at),
    state: state?.state ?? null,
    state_since: toDateTimeOrNull(state?.since ?? null),
    state_reason: state?.reason ?? null,
    agent_name: agentNames.get(record.agent_id) ?? null,
    terminal_levels: levelsOf(record),
  };
}

/** An agent believes in a router that is silent for a minute or two: what it said meanwhile was no answer. */
function lastSeen(at: number | null, state: { state: string; since: number } | undefined): number | null {
  return at !== null && state?.state === 'not_answering' ? Math.min(at, state.since) : at;
}

function levelsOf({ terminal_levels: levels }: RouterRecord): TerminalLevel[] | null {
  return levels === null ? null : TERMINAL_LEVELS.filter((level) => levels.split(',').includes(level));
}
