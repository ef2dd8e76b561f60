import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { momentField, textField, uuidField } from '../../../platform/http/fields.ts';
import { NOT_HEARD_REASONS } from '../threads/match.ts';
import type { Explained, Explainer } from './service.ts';

const MAX_KIND_CHARS = 100;

const questionBody = z
  .object({
    kind: textField(MAX_KIND_CHARS).trim().min(1).describe('`fault.wan_down`, `job.failed` …: docs/notifications.md'),
    router_id: uuidField.optional().describe('Whose fact it is. For `fault.agent_offline`, the agent of this router is away'),
    at: momentField.optional().describe('When it is told; now by default'),
  })
  .meta({
    id: 'ExplainNotification',
    examples: [{ kind: 'fault.wan_down', router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b', at: '2031-05-01T23:30:00Z' }],
  });

const lineSchema = z.object({
  user_id: z.string().nullable().describe('Null for a notification target'),
  target_id: z.string().nullable(),
  target: z.string().nullable().describe('Name of the notification target'),
  channel: z.string(),
  address: z.string().nullable().describe('Masked; null without one'),
  state: z.enum(['sent', 'held', 'withheld']),
  reason: z.string().nullable().describe('Why it is held or withheld: the words of the delivery log'),
  until: dateTime.nullable().describe('When it is sent, if it is held'),
});

const explainedSchema = z
  .object({
    group_id: z.string(),
    group: z.string().describe('Name of the group'),
    hears: z.boolean(),
    reason: z
      .enum([...NOT_HEARD_REASONS, 'muted', 'silenced'])
      .nullable()
      .describe('Why nobody of the group is told: it follows other kinds or sites, is muted, or a silence covers it'),
    until: dateTime.nullable().describe('End of the mute or silence; null: not by itself'),
    recipients: z.array(lineSchema).describe('One for each line of a group that hears of it'),
  })
  .meta({
    id: 'ExplainedGroup',
    examples: [
      {
        group_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        group: 'On call',
        hears: true,
        reason: null,
        until: null,
        recipients: [
          {
            user_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
            target_id: null,
            target: null,
            channel: 'email',
            address: 'a•••@example.org',
            state: 'withheld' as const,
            reason: 'unverified',
            until: null,
          },
        ],
      },
    ],
  });

export interface ExplainRoutesDeps {
  explainer: Explainer;
}

export function explainRoutes(app: App, { explainer }: ExplainRoutesDeps): void {
  app.post(
    '/api/groups/explain',
    {
      config: { readsOnly: true },
      schema: {
        tags: ['notifications'],
        operationId: 'explainNotification',
        summary: 'Say who would be told of a fact, and why the others would not',
        description:
          'Of a fact that lasts and comes alone. Nothing is stored and nothing is sent. Several facts at once are told as one, and one that ' +
          'is over at once is not told.',
        body: questionBody,
        response: { 200: envelope(z.array(explainedSchema)), ...commonErrors },
      },
    },
    async (request) => {
      const { kind, router_id: routerId, at } = request.body;
      const question = { kind, routerId, at: at === undefined ? undefined : Date.parse(at) };
      return success((await explainer.explain(principalOf(request).teamId, question)).map(present));
    },
  );
}

function present({ groupId, group, notHeard, hold, lines }: Explained): z.infer<typeof explainedSchema> {
  return {
    group_id: groupId,
    group,
    hears: notHeard === null,
    reason: notHeard ?? hold?.reason ?? null,
    until: toDateTimeOrNull(hold?.until ?? null),
    recipients: lines.map(({ type, recipientId, channel, shown, target, state, reason, dueAt }) => ({
      user_id: type === 'person' ? recipientId : null,
      target_id: type === 'target' ? recipientId : null,
      target,
      channel,
      address: shown,
      state: state === 'pending' ? 'sent' : state,
      reason,
      until: state === 'held' ? toDateTimeOrNull(dueAt) : null,
    })),
  };
}
