import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { nameField, pathId, uuidField } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { GroupAddresses } from '../contacts/addresses.ts';
import { MISSED_REASONS } from '../contacts/reach.ts';
import type { Missed, Reached } from '../contacts/reach.ts';
import { isMuted } from './mute.ts';
import type { GroupsService } from './service.ts';
import { CHANNELS, MUTES } from './types.ts';
import type { Group, GroupChange } from './types.ts';

/** Limits of a group's lists. */
const MAX_TOPICS = 20;
const MAX_NOTIFIABLES = 200;
const MAX_RECIPIENTS = MAX_NOTIFIABLES;
const MAX_SITES = 800;
const MAX_TARGETS = 50;
/** A day: a later escalation is no help. */
const MAX_ESCALATE_MINUTES = 1440;

const MUTE_MEANING =
  'When the group is muted. `schedule-active`: while its schedule is **inactive**, that is outside the windows; ' +
  '`schedule-inactive`: inside them (the names are historic: the schedule says when the group is active). ' +
  'Without a schedule neither mutes.';
const mute = z.enum(MUTES).describe(MUTE_MEANING);
const notifiable = z
  .object({ id: uuidField.describe('Id of an active member'), channel: z.enum(CHANNELS).describe('Channel to reach them') })
  .meta({ id: 'Notifiable' });

/** The request body (docs/interface.md, notification group). */
const groupFields = z.object({
  name: nameField.meta({ examples: ['On call'] }),
  schedule_id: uuidField.nullable().describe('Null: no schedule'),
  mute,
  recipients: z.array(uuidField).max(MAX_RECIPIENTS).describe('Ids of active members'),
  notifiables: z.array(notifiable).max(MAX_NOTIFIABLES),
  topics: z.array(uuidField).max(MAX_TOPICS),
  sites: z.array(uuidField).max(MAX_SITES),
  targets: z.array(uuidField).max(MAX_TARGETS).describe('Ids of notification targets'),
  escalate_after_minutes: z
    .int()
    .min(1)
    .max(MAX_ESCALATE_MINUTES)
    .nullable()
    .describe('How long nobody acknowledges before the next group is told; together with `escalate_to`'),
  escalate_to: uuidField.nullable().describe('The group that is told next. At most 5 groups follow each other, and none twice'),
});
const groupChangeBody = groupFields.partial().meta({ id: 'NotificationGroupChange' });
const newGroupBody = groupChangeBody.required({ name: true }).meta({ id: 'NewNotificationGroup' });

const PERSON = '01a1fb9c-376e-7279-a064-482cecad7b5b';
const groupExample = {
  id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
  name: 'On call',
  schedule_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  mute: 'schedule-active' as const,
  recipients: [PERSON],
  notifiables: [{ id: PERSON, channel: 'whatsapp' as const }],
  topics: ['01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  sites: ['01a1fba1-77c3-7e02-b5d4-2f8a6c0e4d91'],
  targets: ['01a1fba4-2b7c-7d2c-9f0e-3a1c5e7b9d24'],
  escalate_after_minutes: null,
  escalate_to: null,
  created_at: '2031-05-01T08:30:00.000Z',
  updated_at: '2031-05-01T08:30:00.000Z',
  muted_now: false,
  reaches: 3,
};

/** docs/interface.md, notification group; `targets`, `escalate_after_minutes`, `escalate_to`, `muted_now` and `reaches` are additions. */
const groupSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    schedule_id: z.string().nullable(),
    mute,
    recipients: z.array(z.string()).describe('Inactive members are left out'),
    notifiables: z.array(z.object({ id: z.string(), channel: z.enum(CHANNELS) })),
    topics: z.array(z.string()),
    sites: z.array(z.string()),
    targets: z.array(z.string()),
    escalate_after_minutes: z.int().nullable(),
    escalate_to: z.string().nullable(),
    created_at: dateTime,
    updated_at: dateTime,
    muted_now: z.boolean(),
    reaches: z.int().describe('Number of proved addresses that a notification goes to'),
  })
  .meta({ id: 'NotificationGroup', examples: [groupExample] });

/** The bare path belongs to groups only if it is a UUID; other paths are not affected. */
const UUID_PATTERN = '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$';
const tags = ['notifications'];
const conflict = { 409: problemSchema.describe('Too many groups, or a record that the group references has just been deleted') };

export interface GroupRoutesDeps {
  groups: GroupsService;
  groupAddresses: Pick<GroupAddresses, 'ofGroups'>;
  now: () => number;
}

const entrySchema = z
  .object({
    user_id: z.string().nullable().describe('Null for a notification target'),
    target_id: z.string().nullable(),
    channel: z.string(),
    address: z.string().nullable().describe('Masked; null without one'),
    state: z
      .enum(['reached', ...MISSED_REASONS])
      .describe('`duplicate`: another line leads to the same address. What a person has switched off, only this person switches on again'),
  })
  .meta({
    id: 'GroupReach',
    examples: [{ user_id: PERSON, target_id: null, channel: 'email', address: 'a•••@example.org', state: 'unverified' as const }],
  });

export function groupRoutes(app: App, deps: GroupRoutesDeps): void {
  updateRoute(app, deps);
  readRoutes(app, deps);
  createRoute(app, deps);
  deleteRoute(app, deps);
  reachRoute(app, deps);
}

function updateRoute(app: App, deps: GroupRoutesDeps): void {
  const { groups } = deps;
  app.put(
    `/:group(${UUID_PATTERN})`,
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'updateNotificationGroup',
        summary: 'Update a notification group',
        description:
          'Given fields replace the old values, lists as a whole; missing fields stay unchanged. Duplicates in a list are dropped.',
        params: z.object({ group: uuidField }),
        body: groupChangeBody,
        response: { 200: groupSchema, ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const group = await groups.change(teamId, request.params.group, readChange(request.body));
      request.auditDetail = group.name;
      return presentOne(group, deps);
    },
  );
}

function readRoutes(app: App, deps: GroupRoutesDeps): void {
  const { groups } = deps;
  app.get(
    '/api/groups',
    {
      schema: {
        tags,
        summary: 'List the notification groups of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(groupSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await groups.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, (group) => ({ at: group.createdAt, id: group.id }));
      return success(await presentAll(list, deps));
    },
  );
  app.get(
    '/api/groups/:group_id',
    {
      schema: {
        tags,
        summary: 'Read one notification group',
        params: z.object({ group_id: pathId }),
        response: { 200: groupSchema, ...commonErrors },
      },
    },
    async (request) => presentOne(await groups.get(principalOf(request).teamId, request.params.group_id), deps),
  );
}

function createRoute(app: App, deps: GroupRoutesDeps): void {
  const { groups } = deps;
  app.post(
    '/api/groups',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Create a notification group',
        body: newGroupBody,
        response: { 200: groupSchema, ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { name } = request.body;
      request.auditDetail = name;
      return presentOne(await groups.create(principalOf(request).teamId, { ...readChange(request.body), name }), deps);
    },
  );
}

function deleteRoute(app: App, { groups }: GroupRoutesDeps): void {
  app.delete(
    '/api/groups/:group_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Delete a notification group',
        params: z.object({ group_id: pathId }),
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      request.auditDetail = (await groups.get(teamId, request.params.group_id)).name;
      await groups.delete(teamId, request.params.group_id);
      return reply.code(204).send(null);
    },
  );
}

function reachRoute(app: App, { groups, groupAddresses }: GroupRoutesDeps): void {
  app.get(
    '/api/groups/:group_id/reach',
    {
      schema: {
        tags,
        operationId: 'getGroupReach',
        summary: 'Show whom a notification group reaches, and why not the others',
        params: z.object({ group_id: pathId }),
        response: { 200: envelope(z.array(entrySchema)), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const [reach] = await groupAddresses.ofGroups(teamId, [await groups.get(teamId, request.params.group_id)]);
      return success([...reach!.reached, ...reach!.missed].map(presentEntry));
    },
  );
}

function presentEntry(line: Reached | Missed): z.infer<typeof entrySchema> {
  const { entry, channel, shown } = line;
  return {
    user_id: entry.type === 'person' ? entry.userId : null,
    target_id: entry.type === 'target' ? entry.targetId : null,
    channel,
    address: shown,
    state: 'reason' in line ? line.reason : 'reached',
  };
}

async function presentOne(group: Group, deps: GroupRoutesDeps): Promise<z.infer<typeof groupSchema>> {
  const [shown] = await presentAll([group], deps);
  return shown!;
}

/** All of one team. */
async function presentAll(groups: readonly Group[], { groupAddresses, now }: GroupRoutesDeps): Promise<z.infer<typeof groupSchema>[]> {
  const [first] = groups;
  if (first === undefined) return [];
  const reaches = await groupAddresses.ofGroups(first.teamId, groups);
  return groups.map((group, i) => present(group, now(), reaches[i]!.reached.length));
}

function readChange(body: z.infer<typeof groupChangeBody>): GroupChange {
  const { schedule_id: scheduleId, escalate_after_minutes: escalateAfterMinutes, escalate_to: escalateTo, ...rest } = body;
  return { ...rest, scheduleId, escalateAfterMinutes, escalateTo };
}

function present(group: Group, now: number, reaches: number): z.infer<typeof groupSchema> {
  return {
    id: group.id,
    name: group.name,
    schedule_id: group.scheduleId,
    mute: group.mute,
    recipients: group.recipients,
    notifiables: group.notifiables,
    topics: group.topics,
    sites: group.sites,
    targets: group.targets,
    escalate_after_minutes: group.escalation?.afterMinutes ?? null,
    escalate_to: group.escalation?.to ?? null,
    created_at: toDateTime(group.createdAt),
    updated_at: toDateTime(group.updatedAt),
    muted_now: isMuted(group.mute, group.schedule, now),
    reaches,
  };
}
