import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { nameField, pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import { MAX_TOKEN_CHARS, MAX_URL_CHARS } from './read-address.ts';
import type { SentCode, TargetsService } from './service.ts';
import { TARGET_CHANNELS } from './types.ts';
import type { Target } from './types.ts';

const channel = z.enum(TARGET_CHANNELS).describe('How the target is reached');
const address = z
  .object({
    url: z.string().max(MAX_URL_CHARS).optional().describe('Slack, Teams, webhook: the whole address; ntfy, Gotify: of the server'),
    topic: z.string().max(64).optional().describe('ntfy'),
    token: z.string().max(MAX_TOKEN_CHARS).nullable().optional().describe('Gotify: of the application; ntfy: of a protected topic'),
    routing_key: z.string().max(32).optional().describe('PagerDuty: the integration key of an Events API v2 integration'),
    region: z.enum(['us', 'eu']).optional().describe('PagerDuty: service region, us by default'),
    chat_id: z.string().max(40).optional().describe('Telegram: the chat or group'),
  })
  .describe('The fields that the channel needs. It is stored encrypted and never shown again')
  .meta({ id: 'NotificationTargetAddress' });

const newTargetExample = {
  name: 'Operations channel',
  channel: 'slack' as const,
  address: { url: 'https://hooks.slack.com/services/T0/B0/x' },
};
const newTargetBody = z.object({ name: nameField, channel, address }).meta({ id: 'NewNotificationTarget', examples: [newTargetExample] });
const targetChangeBody = z
  .object({ name: nameField.optional(), address: address.optional() })
  .meta({ id: 'NotificationTargetChange', examples: [{ name: 'Night shift' }] });

const targetExample = {
  id: '01a1fba4-2b7c-7d2c-9f0e-3a1c5e7b9d24',
  name: 'Operations channel',
  channel: 'slack' as const,
  shown: 'https://hooks.slack.com/…/•••',
  verified_at: '2031-05-01T08:30:00.000Z',
  off_reason: null,
  off_at: null,
  created_at: '2031-05-01T08:30:00.000Z',
  updated_at: '2031-05-01T08:30:00.000Z',
};
const targetSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    channel,
    shown: z.string().describe('The address without its secrets'),
    verified_at: dateTime.nullable().describe('When it was proved; null: nothing is sent there'),
    off_reason: z
      .string()
      .nullable()
      .describe('Why nothing is sent there any more: `gone`, `blocked`, `key_refused`. A new proof ends this'),
    off_at: dateTime.nullable(),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'NotificationTarget', examples: [targetExample] });

const sentCodeSchema = z
  .object({
    sent: z.boolean().describe('Whether the receiver took the message'),
    error: z.string().nullable().describe('Why not, as a stable word'),
    detail: z.string().nullable().describe("The receiver's own words"),
    expires_at: dateTime.describe('Until when the code can be used'),
  })
  .meta({ id: 'SentCode', examples: [{ sent: true, error: null, detail: null, expires_at: '2031-05-01T08:40:00.000Z' }] });
const codeBody = z
  .object({ code: z.string().trim().min(1).max(20).describe('The six digits of the message') })
  .meta({ id: 'AddressCode', examples: [{ code: '042137' }] });

const targetParams = z.object({ target_id: pathId });
const tags = ['notifications'];
const conflict = { 409: problemSchema.describe('The team already has a notification target with this name, or too many') };
const tooMany = { 429: problemSchema.describe('Too many codes were sent') };

export interface TargetRoutesDeps {
  targets: TargetsService;
}

export function targetRoutes(app: App, { targets }: TargetRoutesDeps): void {
  readTargets(app, targets);
  writeTargets(app, targets);
  proveTargets(app, targets);
}

function readTargets(app: App, targets: TargetsService): void {
  app.get(
    '/api/notification-targets',
    {
      schema: {
        tags,
        summary: 'List the notification targets of the team, newest first',
        description: 'Chat channels, webhooks and keys of alarm services that groups can name as `targets`.',
        querystring: pageQuery,
        response: { 200: envelope(z.array(targetSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await targets.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, (target) => ({ at: target.createdAt, id: target.id }));
      return success(list.map(present));
    },
  );
  app.get(
    '/api/notification-targets/:target_id',
    {
      schema: {
        tags,
        summary: 'Read one notification target',
        params: targetParams,
        response: { 200: envelope(targetSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await targets.get(principalOf(request).teamId, request.params.target_id))),
  );
}

function writeTargets(app: App, targets: TargetsService): void {
  app.post(
    '/api/notification-targets',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Create a notification target; prove it before anything is sent there',
        body: newTargetBody,
        response: { 200: envelope(targetSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const target = await targets.create(principalOf(request).teamId, request.body);
      request.auditDetail = `notification target ${target.id}, ${target.channel} ${target.shown}`;
      return success(present(target));
    },
  );
  app.patch(
    '/api/notification-targets/:target_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Change a notification target; a new address must be proved again',
        params: targetParams,
        body: targetChangeBody,
        response: { 200: envelope(targetSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const target = await targets.change(principalOf(request).teamId, request.params.target_id, request.body);
      if (request.body.address) request.auditDetail = `new address: ${target.shown}`;
      return success(present(target));
    },
  );
  app.delete(
    '/api/notification-targets/:target_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Delete a notification target and remove it from every group',
        params: targetParams,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await targets.delete(principalOf(request).teamId, request.params.target_id);
      return reply.code(204).send(null);
    },
  );
}

function proveTargets(app: App, targets: TargetsService): void {
  app.post(
    '/api/notification-targets/:target_id/send-code',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'sendTargetCode',
        summary: 'Send a message with a code to the notification target',
        description: 'An earlier code ends. Answers within 15 s whether the receiver took the message.',
        params: targetParams,
        response: {
          200: envelope(sentCodeSchema),
          ...commonErrors,
          ...tooMany,
          409: problemSchema.describe('The channel is not configured'),
        },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      return success(presentSent(await targets.sendCode(principal.teamId, request.params.target_id, principal)));
    },
  );
  app.post(
    '/api/notification-targets/:target_id/verify',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'verifyTarget',
        summary: 'Prove a notification target by the code that was sent there',
        description: 'A code can be used for 10 minutes, and ends with the fifth wrong one.',
        params: targetParams,
        body: codeBody,
        response: { 200: envelope(targetSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await targets.verify(principalOf(request).teamId, request.params.target_id, request.body.code))),
  );
}

function present(target: Target): z.infer<typeof targetSchema> {
  return {
    id: target.id,
    name: target.name,
    channel: target.channel,
    shown: target.shown,
    verified_at: target.verifiedAt === null ? null : toDateTime(target.verifiedAt),
    off_reason: target.offReason,
    off_at: target.offAt === null ? null : toDateTime(target.offAt),
    created_at: toDateTime(target.createdAt),
    updated_at: toDateTime(target.updatedAt),
  };
}

function presentSent({ result, expiresAt }: SentCode): z.infer<typeof sentCodeSchema> {
  const failed = 'error' in result ? { error: result.error, detail: result.detail } : { error: null, detail: null };
  return { sent: result.outcome === 'sent', ...failed, expires_at: toDateTime(expiresAt) };
}
