import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId, textField, uuidField } from '../../platform/http/fields.ts';
import { idempotencyKeyOf } from '../../platform/http/idempotency.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { JOB_LIMITS } from '../jobs/types.ts';
import { progressRoutes } from './progress/routes.ts';
import type { CampaignsService } from './service.ts';
import { MOST_TARGETS } from './targets.ts';
import { CAMPAIGN_STATES, CANARY_STATES, STOP_REASONS, TARGET_STATUSES } from './types.ts';
import type { CampaignView, NewCampaign } from './types.ts';

/** A team's sites. */
const MOST_SITES = 500;
/** Each one is an open job and one more number in every count. */
const MOST_AT_ONCE = 1000;
/** A hundred a second: more than agents and routers can start. */
const FASTEST_RATE = 6000;

const limits = {
  canary_count: z
    .int()
    .min(0)
    .max(MOST_AT_ONCE)
    .describe('Number of canaries: the other routers start only when all canaries have completed'),
  rate_per_minute: z.int().min(1).max(FASTEST_RATE).nullable().describe('Most jobs that start within any minute; null: no limit'),
  most_at_once: z
    .int()
    .min(1)
    .max(MOST_AT_ONCE)
    .describe('Most unfinished jobs at the same time, including those that wait for their router'),
  abort_after_failures: z.int().min(1).max(MOST_TARGETS).nullable().describe('Stop at this number of failures; null: no limit'),
  abort_at_percent: z
    .int()
    .min(1)
    .max(100)
    .nullable()
    .describe('Stop at this share of failures among the results, from the fifth result on; null: no limit'),
};

const newCampaignBody = z
  .object({
    router_ids: z.array(uuidField).max(MOST_TARGETS).optional().describe('Routers, in the order in which they get their jobs'),
    site_ids: z.array(uuidField).max(MOST_SITES).optional().describe('All routers that are at these sites now'),
    description: textField(JOB_LIMITS.descriptionChars).describe('Short text, also used for each job'),
    script: textField(JOB_LIMITS.scriptChars)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .describe('RouterOS commands separated by semicolons or new lines'),
    make_backup: z.boolean().describe('Take a backup and an export before the script; if that fails, the script does not run'),
    express_execute: z.boolean().describe('Offer each job at once and before others, instead of at the next check-in'),
    needs_acknowledgement: z.boolean().describe('When false, a job is completed as soon as its agent has it on disk'),
    notify_url: z.string().optional().describe('https URL at a public address that receives the status updates of every job'),
    timeout_seconds: z.int().min(1).max(JOB_LIMITS.timeoutSeconds).optional().describe('Longest run of the script (default 300)'),
    deliver_within_minutes: z
      .int()
      .min(1)
      .max(JOB_LIMITS.deliveryMinutes)
      .default(60)
      .describe(
        'How long a job may wait for its router before it expires, which is a failure. Until then it counts towards `most_at_once`',
      ),
    undo_unless_reachable_seconds: z
      .int()
      .min(JOB_LIMITS.undoSeconds.least)
      .max(JOB_LIMITS.undoSeconds.most)
      .optional()
      .describe('Undo guard of every job, as with POST /api/asynchronous; a job that was undone (`rolled_back`) is a failure'),
    canary_count: limits.canary_count.default(1),
    rate_per_minute: limits.rate_per_minute.default(null),
    most_at_once: limits.most_at_once.default(50),
    abort_after_failures: limits.abort_after_failures.default(null),
    abort_at_percent: limits.abort_at_percent.default(null),
  })
  .meta({
    id: 'NewCampaign',
    examples: [
      {
        router_ids: ['01a1fb9c-376e-7279-a064-482cecad7b5b', '01a1fb9c-4c11-7a0b-8d2e-5f60718293a4'],
        description: 'New time servers',
        script: '/system ntp client set servers=192.0.2.1,192.0.2.2',
        make_backup: true,
        express_execute: true,
        needs_acknowledgement: true,
        canary_count: 1,
        rate_per_minute: 60,
        most_at_once: 20,
        abort_after_failures: 3,
      },
    ],
  });

const campaignSchema = z
  .object({
    id: z.string(),
    description: z.string(),
    script: z.string(),
    make_backup: z.boolean(),
    express_execute: z.boolean(),
    needs_acknowledgement: z.boolean(),
    notify_url: z.string().nullable(),
    timeout_seconds: z.number().nullable(),
    deliver_within_minutes: z.number(),
    undo_unless_reachable_seconds: z.number().nullable(),
    ...limits,
    state: z
      .enum(CAMPAIGN_STATES)
      .describe('stopped: it stopped itself, see stop_reason; canceled: by a caller; finished: every router has a result'),
    stop_reason: z.enum(STOP_REASONS).nullable(),
    stop_message: z.string().nullable(),
    target_count: z.number(),
    created_by: z.string(),
    created_at: dateTime,
    finished_at: dateTime.nullable().describe('When it had ended and all of its jobs had a result'),
    canaries: z.enum(CANARY_STATES),
    counts: z
      .object(
        Object.fromEntries(TARGET_STATUSES.map((status) => [status, z.number()])) as Record<keyof CampaignView['counts'], z.ZodNumber>,
      )
      .describe('Number of routers in each status'),
  })
  .meta({ id: 'Campaign' });

const canceledSchema = campaignSchema
  .extend({
    taken_back: z.number().describe('Jobs that were canceled and never ran'),
    left_running: z.number().describe('Jobs whose script runs, or whose agent has not answered the request to cancel yet'),
    never_started: z.number().describe('Routers without a job yet'),
  })
  .meta({ id: 'CanceledCampaign' });

const campaignParams = z.object({ campaign_id: pathId });
const hasEnded = { 409: problemSchema.describe('The campaign has ended') };

/** One script for many routers. */
export function campaignRoutes(app: App, deps: { campaigns: CampaignsService }): void {
  creation(app, deps.campaigns);
  reading(app, deps.campaigns);
  progressRoutes(app, deps.campaigns);
  pausing(app, deps.campaigns);
  canceling(app, deps.campaigns);
}

function creation(app: App, campaigns: CampaignsService): void {
  app.post(
    '/api/campaigns',
    {
      // A repeated request with the same key finds the earlier campaign, also after a crash.
      config: { role: 'operator', resumable: true },
      schema: {
        tags: ['campaigns'],
        operationId: 'createCampaign',
        summary: 'Run a script on many routers, canaries first',
        description:
          'The list of routers is fixed when this answers; a router added later is not in it. Canaries go first; if any of them ' +
          'does not complete, the campaign stops. Failed, expired and unknown jobs are failures. When it stops, ' +
          'jobs that have not begun are canceled.',
        body: newCampaignBody,
        response: { 200: envelope(campaignSchema), ...commonErrors, 409: problemSchema.describe('Too many campaigns are open') },
      },
    },
    async (request) => {
      const { teamId, id, clientId } = principalOf(request);
      const view = await campaigns.createCampaign(teamId, readBody(request.body), {
        requestId: request.id,
        idempotencyKey: idempotencyKeyOf(request),
        keyGiven: request.idempotency?.given === true,
        createdBy: id,
        createdVia: clientId,
      });
      request.auditDetail = `${view.campaign.description} (campaign ${view.campaign.id})`;
      return success(presentCampaign(view));
    },
  );
}

function readBody(body: z.infer<typeof newCampaignBody>): NewCampaign {
  return {
    routerIds: body.router_ids,
    siteIds: body.site_ids,
    description: body.description,
    script: body.script,
    makeBackup: body.make_backup,
    expressExecute: body.express_execute,
    needsAcknowledgement: body.needs_acknowledgement,
    notifyUrl: body.notify_url,
    timeoutSeconds: body.timeout_seconds,
    deliverWithinMinutes: body.deliver_within_minutes,
    undoSeconds: body.undo_unless_reachable_seconds,
    canaryCount: body.canary_count,
    ratePerMinute: body.rate_per_minute ?? undefined,
    mostAtOnce: body.most_at_once,
    abortAfterFailures: body.abort_after_failures ?? undefined,
    abortAtPercent: body.abort_at_percent ?? undefined,
  };
}

function reading(app: App, campaigns: CampaignsService): void {
  app.get(
    '/api/campaigns',
    {
      schema: {
        tags: ['campaigns'],
        operationId: 'listCampaigns',
        summary: 'List the campaigns of the team with their progress, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(campaignSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const views = await campaigns.listCampaigns(principalOf(request).teamId, page);
      linkNext(request, reply, page, views, ({ campaign }) => ({ at: campaign.created_at, id: campaign.id }));
      return success(views.map(presentCampaign));
    },
  );
  app.get(
    '/api/campaigns/:campaign_id',
    {
      schema: {
        tags: ['campaigns'],
        operationId: 'getCampaign',
        summary: 'Read one campaign with its progress',
        params: campaignParams,
        response: { 200: envelope(campaignSchema), ...commonErrors },
      },
    },
    async (request) => success(presentCampaign(await campaigns.getCampaign(principalOf(request).teamId, request.params.campaign_id))),
  );
}

const PAUSING = [
  { word: 'pause', summary: 'Pause a campaign: it creates no further jobs; existing jobs continue', change: 'pauseCampaign' },
  { word: 'resume', summary: 'Go on after a pause', change: 'resumeCampaign' },
] as const;

function pausing(app: App, campaigns: CampaignsService): void {
  for (const { word, summary, change } of PAUSING) {
    app.post(
      `/api/campaigns/:campaign_id/${word}`,
      {
        // Repeating it changes nothing.
        config: { role: 'operator', resumable: true },
        schema: {
          tags: ['campaigns'],
          operationId: change,
          summary,
          params: campaignParams,
          response: { 200: envelope(campaignSchema), ...commonErrors, ...hasEnded },
        },
      },
      async (request) => success(presentCampaign(await campaigns[change](principalOf(request).teamId, request.params.campaign_id))),
    );
  }
}

function canceling(app: App, campaigns: CampaignsService): void {
  app.post(
    '/api/campaigns/:campaign_id/cancel',
    {
      config: { role: 'operator', resumable: true },
      schema: {
        tags: ['campaigns'],
        operationId: 'cancelCampaign',
        summary: 'Cancel a campaign: jobs that have not begun are canceled, running ones continue',
        params: campaignParams,
        response: { 200: envelope(canceledSchema), ...commonErrors, ...hasEnded },
      },
    },
    async (request) => {
      const view = await campaigns.cancelCampaign(principalOf(request).teamId, request.params.campaign_id);
      const { deleted, pending, running, skipped } = view.counts;
      return success({ ...presentCampaign(view), taken_back: deleted, left_running: pending + running, never_started: skipped });
    },
  );
}

function presentCampaign({ campaign, counts, canaries }: CampaignView): z.infer<typeof campaignSchema> {
  return {
    id: campaign.id,
    description: campaign.description,
    script: campaign.script,
    make_backup: campaign.make_backup === 1,
    express_execute: campaign.express_execute === 1,
    needs_acknowledgement: campaign.needs_acknowledgement === 1,
    notify_url: campaign.notify_url,
    timeout_seconds: campaign.timeout_seconds,
    deliver_within_minutes: campaign.deliver_within_minutes,
    undo_unless_reachable_seconds: campaign.undo_seconds,
    canary_count: campaign.canary_count,
    rate_per_minute: campaign.rate_per_minute,
    most_at_once: campaign.most_at_once,
    abort_after_failures: campaign.abort_after_failures,
    abort_at_percent: campaign.abort_at_percent,
    state: campaign.state as z.infer<typeof campaignSchema>['state'],
    stop_reason: campaign.stop_reason as z.infer<typeof campaignSchema>['stop_reason'],
    stop_message: campaign.stop_message,
    target_count: campaign.target_count,
    created_by: campaign.created_by,
    created_at: toDateTime(campaign.created_at),
    finished_at: toDateTimeOrNull(campaign.finished_at),
    canaries,
    counts,
  };
}
