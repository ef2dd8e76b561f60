import { z } from 'zod';
import { knownFilter, readAmong, wordsFilter } from '../../../../platform/http/list-query.ts';
import type { App } from '../../../../platform/http/app.ts';
import { principalOf } from '../../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../../../platform/http/envelope.ts';
import { pathId, uuidField } from '../../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../../platform/http/pagination.ts';
import { recordListRoute } from '../../../../platform/http/record-list.ts';
import { CHANNEL_NAMES } from '../../channels/types.ts';
import { MESSAGE_REASONS, MESSAGE_STATES } from '../../messages/types.ts';
import type { DeliveryLog } from '../service.ts';
import { shownZone } from '../shown-zone.ts';
import type { LoggedMessage } from '../types.ts';

const OUTCOMES = ['sent', 'retry', 'never', 'config', 'stopped', 'undelivered'] as const;

const attemptSchema = z.object({
  at: dateTime,
  duration_ms: z.int(),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      '`config`: the account of the operator is at fault; `undelivered`: the provider took it, and said then that it did not arrive',
    ),
  error: z.string().nullable().describe('A stable word; null when it was sent'),
  detail: z.string().nullable().describe("The provider's own words, without addresses and tokens"),
});

export const messageSchema = z
  .object({
    id: z.string(),
    thread_id: z.string(),
    thread_kind: z.string(),
    router_id: z.string().nullable().describe('The one router that the thread is about'),
    group_id: z.string(),
    group: z.string().describe('Name of the group'),
    user_id: z.string().nullable().describe('Null for a notification target'),
    target_id: z.string().nullable(),
    target: z.string().nullable().describe('Name of the notification target'),
    channel: z.string(),
    address: z.string().nullable().describe('Masked, except your own; null without one'),
    kind: z.string().describe('`open`, `update`, `resolve`, `reminder`, `still_open` … as it was decided'),
    subject: z
      .string()
      .describe('As it was said. What is not sent says what others were told, otherwise, and before it is sent, how it is now'),
    subject_time_zone: z
      .string()
      .nullable()
      .describe('IANA name of the zone of the times in `subject`; null when it has none, and for what an earlier version has sent'),
    state: z.enum(MESSAGE_STATES),
    reason: z.string().nullable().describe('Why it is not sent: docs/notifications.md'),
    attempts: z.array(attemptSchema).describe('Oldest first'),
    next_attempt_at: dateTime.nullable(),
    created_at: dateTime,
    settled_at: dateTime.nullable().describe('When it was sent or given up'),
    delivered_at: dateTime
      .nullable()
      .describe('When it was on the telephone; of text messages and WhatsApp, as far as their provider says'),
    read_at: dateTime.nullable().describe('When the person read it; of WhatsApp only, and only where the person lets others see that'),
  })
  .meta({
    id: 'Notification',
    examples: [
      {
        id: '01a1fbb0-3d2e-7b55-8c1f-6e9a8b7d4f32',
        thread_id: '01a1fbb0-2c1d-7a44-9b0e-5d8f7a6c3e21',
        thread_kind: 'fault.wan_down',
        router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        group_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        group: 'On call',
        user_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        target_id: null,
        target: null,
        channel: 'email',
        address: 'a•••@example.org',
        kind: 'open',
        subject: 'core-1 (Depot Madrid): WAN down since 08:30',
        subject_time_zone: 'Europe/Madrid',
        state: 'sent' as const,
        reason: null,
        attempts: [{ at: '2031-05-01T08:30:04.000Z', duration_ms: 85, outcome: 'sent' as const, error: null, detail: null }],
        next_attempt_at: null,
        created_at: '2031-05-01T08:30:04.000Z',
        settled_at: '2031-05-01T08:30:04.000Z',
        delivered_at: null,
        read_at: null,
      },
    ],
  });

export interface LogRoutesDeps {
  deliveryLog: DeliveryLog;
}

export function logRoutes(app: App, { deliveryLog }: LogRoutesDeps): void {
  recordListRoute(app, {
    path: '/api/notifications',
    tag: 'notifications',
    operationId: 'listNotifications',
    summary: 'List what was told to whom, and what was not and why, newest first',
    name: 'notifications',
    item: messageSchema,
    filters: {
      recipient: uuidField.optional().describe('Id of a person or of a notification target'),
      state: wordsFilter(MESSAGE_STATES),
      reason: knownFilter(MESSAGE_REASONS).describe('docs/notifications.md'),
      group_id: uuidField.optional().describe('Of this group'),
      channel: knownFilter(CHANNEL_NAMES),
      time_zone: shownZone,
    },
    find: ({ caller, filter, given, page, wantsTotal }) => {
      const { recipient: recipientId, state, reason, group_id: groupId, channel, time_zone: timeZone } = given;
      const among = { states: readAmong(state), reasons: readAmong(reason), channels: readAmong(channel) };
      return deliveryLog.findMessages(caller, { ...filter, recipientId, groupId, ...among }, page, wantsTotal, timeZone);
    },
    recordOf: (message) => message,
    present: presentMessage,
  });
  app.get(
    '/api/threads/:thread_id/messages',
    {
      schema: {
        tags: ['notifications'],
        operationId: 'listThreadMessages',
        summary: 'List the messages of one thread, also those that were not sent, newest first',
        params: z.object({ thread_id: pathId }),
        querystring: pageQuery.extend({ time_zone: shownZone }),
        response: { 200: envelope(z.array(messageSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const messages = await deliveryLog.messagesOf(principalOf(request), request.params.thread_id, page, request.query.time_zone);
      linkNext(request, reply, page, messages, (message) => ({ at: message.created_at, id: message.id }));
      return success(messages.map(presentMessage));
    },
  );
}

export function presentMessage(message: LoggedMessage): z.infer<typeof messageSchema> {
  const { thread, recipient_type: type, recipient_id: recipient } = message;
  return {
    id: message.id,
    thread_id: message.thread_id,
    thread_kind: thread.kind,
    router_id: thread.router_id,
    group_id: message.group_id,
    group: message.group,
    user_id: type === 'person' ? recipient : null,
    target_id: type === 'target' ? recipient : null,
    target: message.target,
    channel: message.channel,
    address: message.address,
    kind: message.kind,
    subject: message.subject,
    subject_time_zone: message.subject_time_zone,
    state: MESSAGE_STATES.find((state) => state === message.state) ?? 'failed',
    reason: message.reason,
    attempts: message.tries.map(({ at, duration_ms, outcome, error, detail }) => ({
      at: toDateTime(at),
      duration_ms,
      outcome: OUTCOMES.find((known) => known === outcome) ?? 'retry',
      error,
      detail,
    })),
    next_attempt_at: toDateTimeOrNull(message.due_at),
    created_at: toDateTime(message.created_at),
    settled_at: toDateTimeOrNull(message.settled_at),
    delivered_at: toDateTimeOrNull(message.delivered_at),
    read_at: toDateTimeOrNull(message.read_at),
  };
}
