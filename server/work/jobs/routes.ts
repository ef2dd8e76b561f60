import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId, textField } from '../../platform/http/fields.ts';
import { idempotencyKeyOf } from '../../platform/http/idempotency.ts';
import { inPieces, sendJson } from '../../platform/http/json-pieces.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { MOST_OUTPUT_OF_A_PAGE } from './list/pages.ts';
import type { JobOverview } from './list/types.ts';
import type { JobsService } from './service.ts';
import { PHASES, STATUSES, statusOf } from './state.ts';
import { JOB_LIMITS } from './types.ts';
import type { JobRecord } from './types.ts';

const optionalInt = (least: number, most: number) => z.int().min(least).max(most).optional();

const newJobBody = z
  .object({
    description: textField(JOB_LIMITS.descriptionChars).describe('Short text for the orchestration log'),
    script: textField(JOB_LIMITS.scriptChars)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .describe('RouterOS commands separated by semicolons or new lines'),
    make_backup: z.boolean().describe('Take a backup and an export before the script; if that fails the script does not run'),
    express_execute: z.boolean().describe('Offer the job at once and before others, instead of at the next check-in'),
    needs_acknowledgement: z.boolean().describe('When false, the job is completed as soon as its agent has it on disk'),
    notify_url: z
      .string()
      .optional()
      .describe('https URL at a public address that receives job status updates; POST /api/webhook-secret describes their signature'),
    timeout_seconds: optionalInt(1, JOB_LIMITS.timeoutSeconds).describe('Timeout of the script (default 300)'),
    deliver_within_minutes: optionalInt(1, JOB_LIMITS.deliveryMinutes).describe(
      'How long the job may wait for its router before it expires (default 7 days)',
    ),
    undo_unless_reachable_seconds: optionalInt(JOB_LIMITS.undoSeconds.least, JOB_LIMITS.undoSeconds.most).describe(
      'Undo guard: before the script runs, the router saves a restore point. It loads the restore point (with a reboot) after ' +
        'this many seconds, unless the agent has by then reached both the router over a fresh connection and the control plane. ' +
        'The job then fails with reason rolled_back. If the router cannot be guarded, the job fails before anything runs',
    ),
  })
  .meta({
    id: 'NewJob',
    examples: [
      {
        description: 'Name the uplink',
        script: '/interface set ether1 comment=uplink; :put [/system identity get name]',
        make_backup: false,
        express_execute: true,
        needs_acknowledgement: true,
      },
    ],
  });

const receiptSchema = z
  .object({
    idempotency_key: z.string(),
    request_id: z.string(),
    target: z.string().describe('Id of the router'),
    notify_url: z.string().nullable(),
    date: dateTime,
    job_id: z.string(),
  })
  .meta({
    id: 'JobReceipt',
    examples: [
      {
        idempotency_key: 'name-the-uplink-1',
        request_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        target: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        notify_url: null,
        date: '2031-05-01T08:30:00.000Z',
        job_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
      },
    ],
  });

export const jobExample = {
  id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
  token: 'mXcQ2w7ReT4yU1iOp9aSdFgHjKlZxCvB',
  idempotency_key: 'name-the-uplink-1',
  description: 'Name the uplink',
  express_execute: true,
  needs_acknowledgement: true,
  make_backup: false,
  started_at: '2031-05-01T08:30:00.120Z',
  completed_at: '2031-05-01T08:30:00.310Z',
  failed_at: null,
  deleted_at: null,
  status: 'completed' as const,
  phase: 'done' as const,
  reason: null,
  error: null,
  output: 'gw-depot',
  output_truncated: false,
  created_at: '2031-05-01T08:30:00.000Z',
  expires_at: '2031-05-08T08:30:00.000Z',
  site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  request_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  notify_url: null,
  timeout_seconds: 300,
  undo_unless_reachable_seconds: null,
  backup: null,
};

export const jobSchema = z
  .object({
    id: z.string(),
    token: z.string(),
    idempotency_key: z.string(),
    description: z.string(),
    express_execute: z.boolean(),
    needs_acknowledgement: z.boolean(),
    make_backup: z.boolean(),
    started_at: dateTime.nullable(),
    completed_at: dateTime.nullable(),
    failed_at: dateTime.nullable(),
    deleted_at: dateTime.nullable().describe('When it was canceled, or marked as deleted after its end'),
    status: z
      .enum(STATUSES)
      .describe('deleted: deleted_at is set. phase, reason, output and the other times still say what the job did before'),
    phase: z.enum(PHASES).describe('Progress of the job. done: it has a result, good or bad. expired, canceled: it never ran'),
    reason: z.string().nullable().describe('Stable code that says why the job did not simply complete'),
    error: z.string().nullable().describe('Error message of the router or the agent'),
    output: z.string().nullable().describe('What the script printed, up to 64 kB'),
    output_truncated: z
      .boolean()
      .describe('The script printed more than is kept, or its output was deleted because the team exceeded its limit of stored output'),
    created_at: dateTime,
    expires_at: dateTime,
    site_id: z.string().nullable(),
    router_id: z.string(),
    request_id: z.string(),
    notify_url: z.string().nullable(),
    timeout_seconds: z.number(),
    undo_unless_reachable_seconds: z.number().nullable(),
    backup: z.string().nullable().describe('Id of the backup taken before the script, once the control plane has stored it'),
  })
  .meta({ id: 'Job', examples: [jobExample] });

export const jobParams = routerParams.extend({ job_id: pathId });

/** Jobs that are written out at once: 3 MB. */
const JOBS_AT_ONCE = 50;

/** `?status=failed&status=unknown` or `?status=failed,unknown`. */
const listQuery = pageQuery.extend({
  status: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(z.enum(STATUSES)).max(STATUSES.length))
    .optional(),
});

export function jobRoutes(app: App, deps: { jobs: JobsService }): void {
  createRoute(app, deps.jobs);
  readRoutes(app, deps.jobs);
  cancelRoute(app, deps.jobs);
}

function createRoute(app: App, jobs: JobsService): void {
  app.post(
    '/api/asynchronous/:router_id',
    {
      // An earlier job with the same key is found again, also after a crash.
      config: { role: 'operator', resumable: true },
      schema: {
        tags: ['jobs'],
        operationId: 'submitJob',
        summary: 'Submit a script as a job; the answer means that the job is stored on disk',
        params: routerParams,
        body: newJobBody,
        response: { 200: envelope(receiptSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { body } = request;
      const { teamId, id: createdBy, clientId: createdVia } = principalOf(request);
      const job = await jobs.createJob(
        teamId,
        request.params.router_id,
        {
          description: body.description,
          script: body.script,
          makeBackup: body.make_backup,
          expressExecute: body.express_execute,
          needsAcknowledgement: body.needs_acknowledgement,
          notifyUrl: body.notify_url,
          timeoutSeconds: body.timeout_seconds,
          deliverWithinMinutes: body.deliver_within_minutes,
          undoSeconds: body.undo_unless_reachable_seconds,
        },
        {
          requestId: request.id,
          idempotencyKey: idempotencyKeyOf(request),
          keyGiven: request.idempotency?.given === true,
          createdBy,
          createdVia,
        },
      );
      request.auditDetail = `${job.description} (job ${job.id})`;
      return success(presentReceipt(job));
    },
  );
}

function readRoutes(app: App, jobs: JobsService): void {
  app.get(
    '/api/routers/:router_id/jobs',
    {
      schema: {
        tags: ['jobs'],
        operationId: 'listJobs',
        summary: 'List the jobs of a router, newest first',
        description: `A page ends before its limit once its jobs have printed ${MOST_OUTPUT_OF_A_PAGE / 2 ** 20} MB; \`Link\` names the next one.`,
        params: routerParams,
        querystring: listQuery,
        response: { 200: envelope(z.array(jobSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { teamId } = principalOf(request);
      const { rows, isCut } = await jobs.listJobs(teamId, request.params.router_id, request.query.status ?? [], page);
      linkNext(request, reply, page, rows, (job) => ({ at: job.created_at, id: job.id }), isCut);
      const written = await inPieces(rows, (job) => jobSchema.encode(presentJob(job)), JOBS_AT_ONCE);
      return sendJson(reply, ['{"status":"success","data":', written, '}']);
    },
  );
}

function cancelRoute(app: App, jobs: JobsService): void {
  app.delete(
    '/api/routers/:router_id/jobs/:job_id',
    {
      config: { role: 'operator' },
      schema: {
        tags: ['jobs'],
        operationId: 'cancelJob',
        summary: 'Cancel a pending job, or mark a finished one as deleted',
        description:
          'A queued job is canceled at once. For a job that its agent has accepted, the agent is asked to give it back: 200 once it has, ' +
          '202 while it has not answered (the control plane asks again), 409 if the script has begun. For a finished job only ' +
          'deleted_at and status change.',
        params: jobParams,
        response: {
          200: envelope(jobSchema),
          202: envelope(jobSchema).describe('The agent has been asked to give the job back and has not answered yet'),
          409: problemSchema.describe('The script has begun and cannot be recalled'),
          ...commonErrors,
        },
      },
    },
    async (request, reply) => {
      const { router_id: routerId, job_id: jobId } = request.params;
      const { teamId, id } = principalOf(request);
      const { state, job } = await jobs.cancelJob(teamId, routerId, jobId, { type: 'caller', id });
      reply.code(state === 'requested' ? 202 : 200);
      return success(presentJob(job));
    },
  );
}

function presentReceipt(job: JobRecord): z.infer<typeof receiptSchema> {
  return {
    idempotency_key: job.idempotency_key,
    request_id: job.request_id,
    target: job.router_id,
    notify_url: job.notify_url,
    date: toDateTime(job.created_at),
    job_id: job.id,
  };
}

/** `output` is null for a job of which it was not read. */
export function presentJob(job: JobOverview & Partial<Pick<JobRecord, 'output'>>): z.infer<typeof jobSchema> {
  return {
    id: job.id,
    token: job.token,
    idempotency_key: job.idempotency_key,
    description: job.description,
    express_execute: job.express_execute === 1,
    needs_acknowledgement: job.needs_acknowledgement === 1,
    make_backup: job.make_backup === 1,
    started_at: toDateTimeOrNull(job.started_at),
    completed_at: toDateTimeOrNull(job.completed_at),
    failed_at: toDateTimeOrNull(job.failed_at),
    deleted_at: toDateTimeOrNull(job.deleted_at),
    status: statusOf(job),
    phase: job.phase as z.infer<typeof jobSchema>['phase'],
    reason: job.reason,
    error: job.error,
    output: job.output ?? null,
    output_truncated: job.output_truncated === 1,
    created_at: toDateTime(job.created_at),
    expires_at: toDateTime(job.expires_at),
    site_id: job.site_id,
    router_id: job.router_id,
    request_id: job.request_id,
    notify_url: job.notify_url,
    timeout_seconds: job.timeout_ms / 1000,
    undo_unless_reachable_seconds: job.undo_seconds,
    backup: job.backup_id,
  };
}
