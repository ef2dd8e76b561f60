import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { WebhooksService } from './service.ts';
import { ATTEMPT_ERRORS, DELIVERY_STATES } from './types.ts';
import type { AttemptError, Delivery, DeliveryState } from './types.ts';

/** Long enough to switch by hand on the next working day. */
const DEFAULT_OVERLAP_MIN = 24 * 60;
/** A week. An old secret that is needed for longer has been forgotten. */
const LONGEST_OVERLAP_MIN = 7 * 24 * 60;
const MINUTE_MS = 60_000;

const tags = ['webhooks'];

const attemptSchema = z
  .object({
    at: dateTime,
    status: z.int().nullable().describe('HTTP status; null when no answer came'),
    duration_ms: z.int(),
    error: z.enum(ATTEMPT_ERRORS).nullable().describe('Stable error code of a failed attempt; null for a successful one'),
  })
  .meta({ id: 'DeliveryAttempt' });

const deliverySchema = z
  .object({
    id: z.string().describe('`webhook-id` of every attempt'),
    type: z.string().describe('Event type: `job.completed`'),
    seq_id: z.int().describe('Rises with every event of the job'),
    state: z.enum(DELIVERY_STATES),
    created_at: dateTime,
    next_attempt_at: dateTime.nullable().describe('Earliest time of the next attempt; earlier events of the job come first'),
    settled_at: dateTime.nullable().describe('Time of delivery, or of giving up'),
    attempts: z.array(attemptSchema).describe('Oldest first; the last 50 of each event'),
  })
  .meta({ id: 'Delivery' });

const secretSchema = z
  .object({
    created_at: dateTime,
    shown: z.boolean().describe('False: created automatically to sign the first update, and never shown'),
    previous_valid_until: dateTime.nullable().describe('Until this time updates are also signed with the previous secret'),
  })
  .meta({ id: 'WebhookSecret' });

const madeSecretSchema = secretSchema
  .extend({ secret: z.string().describe('`whsec_` and base64, as in Standard Webhooks; shown only in this answer') })
  .meta({ id: 'NewlyMadeWebhookSecret' });

const rotationBody = z
  .object({
    overlap_minutes: z
      .int()
      .min(0)
      .max(LONGEST_OVERLAP_MIN)
      .optional()
      .describe(`How long updates are also signed with the old secret. Default: ${DEFAULT_OVERLAP_MIN}; 0 stops at once`),
  })
  .meta({ id: 'WebhookSecretRotation' });

const jobParams = routerParams.extend({ job_id: pathId });

interface WebhookRoutesDeps {
  webhooks: WebhooksService;
}

/** Deliveries to `notify_url`, and the secret that signs them. */
export function webhookRoutes(app: App, { webhooks }: WebhookRoutesDeps): void {
  deliveryRoutes(app, webhooks);
  secretRoutes(app, webhooks);
}

function deliveryRoutes(app: App, webhooks: WebhooksService): void {
  app.get(
    '/api/routers/:router_id/jobs/:job_id/deliveries',
    {
      schema: {
        tags,
        summary: "List the job's deliveries to notify_url with their attempts, newest first",
        params: jobParams,
        querystring: pageQuery,
        response: { 200: envelope(z.array(deliverySchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { router_id: routerId, job_id: jobId } = request.params;
      const page = readPage(request.query);
      const deliveries = await webhooks.listDeliveries(principalOf(request).teamId, routerId, jobId, page);
      linkNext(request, reply, page, deliveries, ({ event }) => ({ at: event.seq, id: event.id }));
      return success(deliveries.map(presentDelivery));
    },
  );
  app.post(
    '/api/routers/:router_id/jobs/:job_id/deliveries/:delivery_id/resend',
    {
      config: { role: 'operator' },
      schema: {
        tags,
        summary: 'Send an event again, with the same id and body',
        description:
          'A delivered or abandoned event is sent at once and retried like a new one; it delays no other event. ' +
          'A pending event is tried now, after the events before it.',
        params: jobParams.extend({ delivery_id: pathId }),
        response: { 200: envelope(deliverySchema), ...commonErrors },
      },
    },
    async (request) => {
      const { router_id: routerId, job_id: jobId, delivery_id: id } = request.params;
      return success(presentDelivery(await webhooks.resend(principalOf(request).teamId, routerId, jobId, id)));
    },
  );
}

function secretRoutes(app: App, webhooks: WebhooksService): void {
  app.get(
    '/api/webhook-secret',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Read the creation time of the current webhook secret; null when there is none yet',
        response: { 200: envelope(secretSchema.nullable()), ...commonErrors },
      },
    },
    async (request) => {
      const state = await webhooks.secretState(principalOf(request).teamId);
      return success(state === undefined ? null : presentSecret(state));
    },
  );
  app.post(
    '/api/webhook-secret',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags,
        summary: 'Create a new webhook secret; it is shown only in this answer',
        description:
          'Updates carry the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). During a ' +
          'rotation they carry one signature for each secret.',
        body: rotationBody.nullish(),
        response: {
          200: envelope(madeSecretSchema),
          ...commonErrors,
          409: problemSchema.describe('Another secret is being created at the same time'),
        },
      },
    },
    async (request, reply) => {
      const overlapMs = (request.body?.overlap_minutes ?? DEFAULT_OVERLAP_MIN) * MINUTE_MS;
      const made = await webhooks.rotateSecret(principalOf(request).teamId, overlapMs);
      reply.header('cache-control', 'no-store');
      return success({ ...presentSecret(made), secret: made.secret });
    },
  );
}

function presentSecret(state: { createdAt: number; shown: boolean; previousUntil: number | null }): z.infer<typeof secretSchema> {
  return { created_at: toDateTime(state.createdAt), shown: state.shown, previous_valid_until: toDateTimeOrNull(state.previousUntil) };
}

function presentDelivery({ event, attempts }: Delivery): z.infer<typeof deliverySchema> {
  return {
    id: event.id,
    type: event.type,
    seq_id: event.seq,
    state: event.state as DeliveryState,
    created_at: toDateTime(event.created_at),
    next_attempt_at: toDateTimeOrNull(event.due_at),
    settled_at: toDateTimeOrNull(event.settled_at),
    attempts: attempts.map((attempt) => ({
      at: toDateTime(attempt.at),
      status: attempt.status,
      duration_ms: attempt.duration_ms,
      error: attempt.error as AttemptError | null,
    })),
  };
}
