import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { inPieces, sendJson } from '../../../platform/http/json-pieces.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { CampaignsService } from '../service.ts';
import { OUTCOMES, TARGET_STATUSES } from '../types.ts';
import type { OutputGroup, TargetView } from '../types.ts';

/** Default page size: one screen. */
const SHOWN_GROUPS = 50;
/** Each record has up to 64 kB of output. */
const MOST_GROUPS = 200;
/** Groups that are written out at once: 1.3 MB. */
const GROUPS_AT_ONCE = 20;

const targetSchema = z
  .object({
    router_id: z.string(),
    position: z.number().describe('Its turn, from 0'),
    canary: z.boolean(),
    status: z.enum(TARGET_STATUSES).describe("waiting: it has no job yet; skipped: the campaign ended first; otherwise the job's status"),
    job_id: z.string().nullable().describe('Null before its job exists, and after the job was deleted'),
    reason: z.string().nullable().describe('Stable code of the reason, unless it simply completed'),
    started_at: dateTime.nullable().describe('When its job was made'),
    settled_at: dateTime.nullable().describe('When the result of the job was recorded'),
  })
  .meta({ id: 'CampaignTarget' });

const groupSchema = z
  .object({
    status: z.enum(OUTCOMES),
    output_hash: z.string().describe('Hash of output, error and reason, without trailing blanks and the first line of an export'),
    count: z.number(),
    output: z.string().nullable().describe('Output of the first router of the group; null also after its job was deleted'),
    error: z.string().nullable(),
    reason: z.string().nullable(),
    router_ids: z.array(z.string()).describe('The first five, in order'),
  })
  .meta({ id: 'OutputGroup' });

const groupsSchema = z
  .object({ total: z.number().describe('Number of groups'), groups: z.array(groupSchema) })
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

/** The result of each router of a campaign, and groups of routers with the same result. */
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
        summary: 'List the routers of a campaign in the order in which they get their jobs',
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
        summary: 'Group the routers of a campaign by result and output, the largest group first',
        description: 'The list ends before its limit once its groups have printed 4 MB together.',
        params: campaignParams,
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(MOST_GROUPS).default(SHOWN_GROUPS) }),
        response: { 200: envelope(groupsSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { groups, total } = await campaigns.listGroups(principalOf(request).teamId, request.params.campaign_id, request.query.limit);
      const written = await inPieces(groups, (group) => groupSchema.encode(presentGroup(group)), GROUPS_AT_ONCE);
      return sendJson(reply, [`{"status":"success","data":{"total":${total},"groups":`, written, '}}']);
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
