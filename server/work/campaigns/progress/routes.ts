import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { CampaignsService } from '../service.ts';
import { OUTCOMES, TARGET_STATUSES } from '../types.ts';
import type { OutputGroup, TargetView } from '../types.ts';

/** Shown unless told otherwise: a page of a screen. */
const SHOWN_GROUPS = 50;
/** Each brings up to 64 kB of output. */
const MOST_GROUPS = 200;

const targetSchema = z
  .object({
    router_id: z.string(),
    position: z.number().describe('Its turn, from 0'),
    canary: z.boolean(),
    status: z.enum(TARGET_STATUSES).describe("waiting: for its turn; skipped: the campaign ended before it; otherwise the job's status"),
    job_id: z.string().nullable().describe('Null before its turn, and once the job has been forgotten'),
    reason: z.string().nullable().describe('Why it is not simply completed, as a stable word'),
    started_at: dateTime.nullable().describe('When its job was made'),
    settled_at: dateTime.nullable().describe("When the job's end was noticed"),
  })
  .meta({ id: 'CampaignTarget' });

const groupSchema = z
  .object({
    status: z.enum(OUTCOMES),
    output_hash: z.string().describe('Of output, error and reason; blank space at line ends and the head of an export do not count'),
    count: z.number(),
    output: z.string().nullable().describe('What the first router of the group printed; null also once its job has been forgotten'),
    error: z.string().nullable(),
    reason: z.string().nullable(),
    router_ids: z.array(z.string()).describe('The first five, in order'),
  })
  .meta({ id: 'OutputGroup' });

const groupsSchema = z
  .object({ total: z.number().describe('How many groups there are'), groups: z.array(groupSchema) })
  .meta({ id: 'OutputGroups' });

const campaignParams = z.object({ campaign_id: pathId });

/** `?status=failed&status=unknown` or `?status=failed,unknown`. */
const targetQuery = pageQuery.extend({
  status: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',') : value),
      z.array(z.enum(TARGET_STATUSES)).max(TARGET_STATUSES.length),
    )
    .optional(),
});

/** How each router of a campaign fared, and which of them said the same. */
export function progressRoutes(app: App, campaigns: CampaignsService): void {
  targetList(app, campaigns);
  groupList(app, campaigns);
}

function targetList(app: App, campaigns: CampaignsService): void {
  app.get(
    '/api/campaigns/:campaign_id/targets',
    {
      schema: {
        tags: ['campaigns'],
        operationId: 'listCampaignTargets',
        summary: 'List the routers of a campaign in the order of their turns',
        params: campaignParams,
        querystring: targetQuery,
        response: { 200: envelope(z.array(targetSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const query = { statuses: request.query.status ?? [], after: page.before?.at ?? -1, limit: page.limit };
      const targets = await campaigns.listTargets(principalOf(request).teamId, request.params.campaign_id, query);
      linkNext(request, reply, page, targets, (target) => ({ at: target.position, id: target.routerId }));
      return success(targets.map(presentTarget));
    },
  );
}

function groupList(app: App, campaigns: CampaignsService): void {
  app.get(
    '/api/campaigns/:campaign_id/groups',
    {
      schema: {
        tags: ['campaigns'],
        operationId: 'getCampaignGroups',
        summary: 'Read which routers ended alike and printed the same, the largest group first',
        params: campaignParams,
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(MOST_GROUPS).default(SHOWN_GROUPS) }),
        response: { 200: envelope(groupsSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { groups, total } = await campaigns.listGroups(principalOf(request).teamId, request.params.campaign_id, request.query.limit);
      return success({ total, groups: groups.map(presentGroup) });
    },
  );
}

function presentTarget(target: TargetView): z.infer<typeof targetSchema> {
  return {
    router_id: target.routerId,
    position: target.position,
    canary: target.canary,
    status: target.status,
    job_id: target.jobId,
    reason: target.reason,
    started_at: toDateTimeOrNull(target.startedAt),
    settled_at: toDateTimeOrNull(target.settledAt),
  };
}

function presentGroup(group: OutputGroup): z.infer<typeof groupSchema> {
  return {
    status: group.status,
    output_hash: group.outputHash,
    count: group.count,
    output: group.output,
    error: group.error,
    reason: group.reason,
    router_ids: group.routerIds,
  };
}
