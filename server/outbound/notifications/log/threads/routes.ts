import { z } from 'zod';
import type { App } from '../../../../platform/http/app.ts';
import { principalOf } from '../../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../../../platform/http/envelope.ts';
import { pathId, uuidField } from '../../../../platform/http/fields.ts';
import { knownFilter, readAmong } from '../../../../platform/http/list-query.ts';
import { recordListRoute } from '../../../../platform/http/record-list.ts';
import { THREAD_KINDS } from '../../threads/kinds.ts';
import { MOST_ITEMS } from '../service.ts';
import type { DeliveryLog } from '../service.ts';
import { shownZone } from '../shown-zone.ts';
import type { ListedItem, ListedThread } from '../types.ts';

const ROUTER = '01a1fb9c-376e-7279-a064-482cecad7b5b';
const threadExample = {
  id: '01a1fbb0-2c1d-7a44-9b0e-5d8f7a6c3e21',
  group_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
  group: 'On call',
  kind: 'fault.wan_down',
  severity: 'critical',
  state: 'open' as const,
  subject: 'core-1 (Depot Madrid): WAN down since 08:30',
  router_id: ROUTER,
  agent_id: '01a1fba2-7d1c-7f02-8c3e-9a1b5d7f2e64',
  site_id: '01a1fba1-77c3-7e02-b5d4-2f8a6c0e4d91',
  parent_id: null,
  open_count: 1,
  item_count: 1,
  opened_at: '2031-05-01T08:30:00.000Z',
  closed_at: null,
  told_at: '2031-05-01T08:30:04.000Z',
  flapping: false,
  muted: false,
  silenced_until: null,
  acknowledged_at: null,
  acknowledged_by: null,
  acknowledged_until: null,
  created_at: '2031-05-01T08:30:01.000Z',
};

export const threadSchema = z
  .object({
    id: z.string(),
    group_id: z.string(),
    group: z.string().describe('Name of the group'),
    kind: z
      .string()
      .describe(
        'Kind of its first fact; `site`, `agent_routers`, `storm`, `contact_lost` or `several` for a thread that stands for others; `digest`, `test`',
      ),
    severity: z.string().describe('critical, warning or info'),
    state: z.enum(['open', 'closed']).describe('closed: nothing in it is open'),
    subject: z.string().describe('What it is about now, in one line, in English; `time_zone` says with the times of which zone'),
    router_id: z.string().nullable().describe('The one router that it is about'),
    agent_id: z.string().nullable(),
    site_id: z.string().nullable().describe('The one site that it is about'),
    parent_id: z.string().nullable().describe('The thread that stands for this one: nothing is told of this one meanwhile'),
    open_count: z.int().describe('Records in it that are open'),
    item_count: z.int().describe('Records in it'),
    opened_at: dateTime.describe('When its present or last opening began'),
    closed_at: dateTime.nullable().describe('Null while it is open, and for single facts'),
    told_at: dateTime.nullable().describe('When it was told last; null: never'),
    flapping: z.boolean().describe('It comes and goes'),
    muted: z.boolean().describe('It waits for the end of a mute of its group'),
    silenced_until: dateTime.nullable().describe('It waits for the end of a silence'),
    acknowledged_at: dateTime.nullable(),
    acknowledged_by: z.string().nullable().describe('Email of the person, name of the API key or target; null for one that is gone'),
    acknowledged_until: dateTime.nullable().describe('When it is told again; null: it is not'),
    created_at: dateTime,
  })
  .meta({ id: 'NotificationThread', examples: [threadExample] });

const itemSchema = z.object({
  id: z.string().describe('Of the fault, job, campaign … or of the thread'),
  type: z.enum(['record', 'thread']).describe('thread: this thread stands for others'),
  kind: z.string(),
  severity: z.string(),
  router_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  site_id: z.string().nullable(),
  name: z.string().describe('Of the router, agent, site …'),
  detail: z.string().describe('What is wrong, as it was reported'),
  opened_at: dateTime,
  closed_at: dateTime.nullable(),
});

const detailSchema = threadSchema
  .extend({ items: z.array(itemSchema).describe(`What is open first, then the newest; at most ${MOST_ITEMS}. \`item_count\` counts all`) })
  .meta({
    id: 'NotificationThreadWithItems',
    examples: [
      {
        ...threadExample,
        items: [
          {
            id: '01a1fbb0-2a00-7123-8d6f-0c5b3a7e9f10',
            type: 'record' as const,
            kind: 'fault.wan_down',
            severity: 'critical',
            router_id: ROUTER,
            agent_id: null,
            site_id: '01a1fba1-77c3-7e02-b5d4-2f8a6c0e4d91',
            name: 'core-1',
            detail: 'ether1 has no link',
            opened_at: '2031-05-01T08:30:00.000Z',
            closed_at: null,
          },
        ],
      },
    ],
  });

export interface ThreadRoutesDeps {
  deliveryLog: DeliveryLog;
}

export function threadRoutes(app: App, { deliveryLog }: ThreadRoutesDeps): void {
  recordListRoute(app, {
    path: '/api/threads',
    tag: 'notifications',
    operationId: 'listThreads',
    summary: 'List the threads of notifications of the team, newest first',
    name: 'threads',
    item: threadSchema,
    filters: {
      state: z.enum(['open', 'closed']).optional(),
      group_id: uuidField.optional().describe('Threads of this group'),
      site_id: uuidField.optional().describe('Threads that are about this site or one of its routers'),
      parent_id: uuidField.optional().describe('Threads that this one stands for'),
      kind: knownFilter(THREAD_KINDS),
      time_zone: shownZone,
    },
    find: ({ teamId, filter, given, page, wantsTotal }) => {
      const { state, group_id: groupId, site_id: siteId, parent_id: parentId, kind, time_zone: timeZone } = given;
      const wanted = { ...filter, state, groupId, siteId, parentId, kinds: readAmong(kind) };
      return deliveryLog.findThreads(teamId, wanted, page, wantsTotal, timeZone);
    },
    recordOf: (thread) => thread,
    present: presentThread,
  });
  app.get(
    '/api/threads/:thread_id',
    {
      schema: {
        tags: ['notifications'],
        operationId: 'getThread',
        summary: 'Read one thread of notifications with what is in it',
        params: z.object({ thread_id: pathId }),
        querystring: z.object({ time_zone: shownZone }),
        response: { 200: envelope(detailSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { thread, items } = await deliveryLog.getThread(teamId, request.params.thread_id, request.query.time_zone);
      return success({ ...presentThread(thread), items: items.map(presentItem) });
    },
  );
}

export function presentThread(thread: ListedThread): z.infer<typeof threadSchema> {
  return {
    id: thread.id,
    group_id: thread.group_id,
    group: thread.group,
    kind: thread.kind,
    severity: thread.severity,
    state: thread.state === 'open' ? 'open' : 'closed',
    subject: thread.subject,
    router_id: thread.router_id,
    agent_id: thread.agent_id,
    site_id: thread.site_id,
    parent_id: thread.parent_id,
    open_count: thread.open_count,
    item_count: thread.item_count,
    opened_at: toDateTime(thread.first_at),
    closed_at: toDateTimeOrNull(thread.ended_at),
    told_at: toDateTimeOrNull(thread.told_at),
    flapping: thread.flapping_since !== null,
    muted: thread.muted === 1,
    silenced_until: toDateTimeOrNull(thread.silenced_until),
    acknowledged_at: toDateTimeOrNull(thread.acknowledged_at),
    acknowledged_by: thread.taker,
    acknowledged_until: toDateTimeOrNull(thread.acknowledged_until),
    created_at: toDateTime(thread.created_at),
  };
}

function presentItem(item: ListedItem): z.infer<typeof itemSchema> {
  return {
    id: item.id,
    type: item.type,
    kind: item.kind,
    severity: item.severity,
    router_id: item.routerId,
    agent_id: item.agentId,
    site_id: item.siteId,
    name: item.name,
    detail: item.detail,
    opened_at: toDateTime(item.openedAt),
    closed_at: toDateTimeOrNull(item.resolvedAt),
  };
}
