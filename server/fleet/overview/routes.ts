import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import type { OverviewService } from './service.ts';
import type { Overview } from './types.ts';

const count = z.int();
const overviewSchema = z
  .object({
    routers: z.object({ answering: count, not_answering: count, agent_away: count, never_seen: count }).describe('By state'),
    agents: z.object({ connected: count, away: count, unseen: count }).describe('`unseen`: enrolled, and never connected'),
    open_faults: z.object({ critical: count, warning: count, info: count }).describe('By severity'),
    jobs_24h: z
      .object({ pending: count, running: count, completed: count, failed: count, deleted: count, expired: count, unknown: count })
      .describe('Jobs created in the last 24 hours, by status'),
    jobs_24h_is_exact: z.boolean().describe('False: a status has more; counting stopped there'),
    open_forwards: count,
    open_terminals: count,
    running_campaigns: count,
    common_causes: z
      .array(
        z.object({
          kind: z.enum(['agent', 'site', 'address', 'version']),
          value: z.string().describe('Id of the agent or the site, the address from which the agents come, or the version'),
          name: z.string().nullable().describe('Of the agent or the site'),
          routers_away: count.describe('Routers with that value whose state is `agent_away` or `not_answering`'),
          routers: count.describe('All routers with that value'),
          since: dateTime.describe('When the first of them stopped answering'),
        }),
      )
      .describe('Common properties of routers that do not answer: for each kind, the largest groups of at least two routers'),
  })
  .meta({
    id: 'Overview',
    examples: [
      {
        routers: { answering: 410, not_answering: 2, agent_away: 214, never_seen: 0 },
        agents: { connected: 12, away: 1, unseen: 0 },
        open_faults: { critical: 3, warning: 5, info: 0 },
        jobs_24h: { pending: 4, running: 1, completed: 120, failed: 2, deleted: 0, expired: 0, unknown: 0 },
        jobs_24h_is_exact: true,
        open_forwards: 2,
        open_terminals: 1,
        running_campaigns: 1,
        common_causes: [
          {
            kind: 'agent',
            value: '01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35',
            name: 'gw-depot',
            routers_away: 214,
            routers: 214,
            since: '2031-05-01T08:30:00.000Z',
          },
        ],
      },
    ],
  });

export function overviewRoute(app: App, { overview }: { overview: OverviewService }): void {
  app.get(
    '/api/overview',
    {
      schema: {
        tags: ['routers'],
        operationId: 'getOverview',
        summary: 'Count the records of the team by state, and group the routers that do not answer by common properties',
        response: { 200: envelope(overviewSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await overview.of(principalOf(request).teamId))),
  );
}

function present(overview: Overview): z.infer<typeof overviewSchema> {
  const { critical = 0, warning = 0, info = 0 } = overview.openFaults;
  const { pending = 0, running = 0, completed = 0, failed = 0, deleted = 0, expired = 0, unknown = 0 } = overview.jobs.counts;
  return {
    routers: overview.routers,
    agents: overview.agents,
    open_faults: { critical, warning, info },
    jobs_24h: { pending, running, completed, failed, deleted, expired, unknown },
    jobs_24h_is_exact: overview.jobs.isExact,
    open_forwards: overview.openForwards,
    open_terminals: overview.openTerminals,
    running_campaigns: overview.runningCampaigns,
    common_causes: overview.causes.map(({ away, of, since, ...cause }) => ({
      ...cause,
      routers_away: away,
      routers: of,
      since: toDateTime(since),
    })),
  };
}
