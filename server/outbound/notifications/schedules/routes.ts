import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { nameField, pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import { isActive } from './active.ts';
import type { SchedulesService } from './service.ts';
import { DAYS } from './types.ts';
import type { Schedule } from './types.ts';

const MINUTES_OF_DAY = 1440;
/** Seven a day. */
const MAX_WINDOWS = 49;

const windowSchema = z
  .object({
    day: z.enum(DAYS),
    from: z
      .int()
      .min(0)
      .max(MINUTES_OF_DAY - 1)
      .describe('Minutes since midnight'),
    to: z.int().min(1).max(MINUTES_OF_DAY).describe('Minutes since midnight, exclusive; on the next day if not after `from`'),
  })
  .meta({ id: 'ScheduleWindow', examples: [{ day: 'monday', from: 540, to: 1020 }] });
const windows = z
  .array(windowSchema)
  .max(MAX_WINDOWS)
  .describe('Weekly windows in which the schedule is active, in local time of its time zone');
/** The longest name in the IANA database is under 40 characters. */
const timeZone = z
  .string()
  .max(100)
  .describe('IANA name')
  .meta({ examples: ['Europe/Madrid'] });

const newScheduleBody = z
  .object({ name: nameField.meta({ examples: ['Office hours'] }), time_zone: timeZone, windows })
  .meta({ id: 'NewSchedule' });
const scheduleChangeBody = newScheduleBody.partial().meta({ id: 'ScheduleChange' });
const scheduleSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    time_zone: timeZone,
    windows: z.array(windowSchema),
    active_now: z.boolean(),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Schedule' });
const scheduleParams = z.object({ schedule_id: pathId });

const tags = ['notifications'];
const conflict = { 409: problemSchema.describe('The team already has a schedule with this name, or too many schedules') };

export interface ScheduleRoutesDeps {
  schedules: SchedulesService;
  now: () => number;
}

export function scheduleRoutes(app: App, deps: ScheduleRoutesDeps): void {
  readSchedules(app, deps);
  writeSchedules(app, deps);
  deleteSchedule(app, deps);
}

function readSchedules(app: App, { schedules, now }: ScheduleRoutesDeps): void {
  app.get(
    '/api/schedules',
    {
      schema: {
        tags,
        summary: 'List the schedules of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(scheduleSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await schedules.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, (schedule) => ({ at: schedule.createdAt, id: schedule.id }));
      return success(list.map((schedule) => present(schedule, now())));
    },
  );
  app.get(
    '/api/schedules/:schedule_id',
    {
      schema: { tags, summary: 'Read one schedule', params: scheduleParams, response: { 200: envelope(scheduleSchema), ...commonErrors } },
    },
    async (request) => {
      const schedule = await schedules.get(principalOf(request).teamId, request.params.schedule_id);
      return success(present(schedule, now()));
    },
  );
}

function writeSchedules(app: App, { schedules, now }: ScheduleRoutesDeps): void {
  app.post(
    '/api/schedules',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Create a schedule of weekly windows',
        body: newScheduleBody,
        response: { 200: envelope(scheduleSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { name, time_zone: timeZone, windows } = request.body;
      request.auditDetail = name;
      const schedule = await schedules.create(principalOf(request).teamId, { name, timeZone, windows });
      return success(present(schedule, now()));
    },
  );
  app.patch(
    '/api/schedules/:schedule_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Change a schedule; missing fields stay unchanged',
        params: scheduleParams,
        body: scheduleChangeBody,
        response: { 200: envelope(scheduleSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { name, time_zone: timeZone, windows } = request.body;
      const { teamId } = principalOf(request);
      const schedule = await schedules.change(teamId, request.params.schedule_id, { name, timeZone, windows });
      request.auditDetail = schedule.name;
      return success(present(schedule, now()));
    },
  );
}

function deleteSchedule(app: App, { schedules }: ScheduleRoutesDeps): void {
  app.delete(
    '/api/schedules/:schedule_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Delete a schedule; its groups then have no schedule',
        params: scheduleParams,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      request.auditDetail = (await schedules.get(teamId, request.params.schedule_id)).name;
      await schedules.delete(teamId, request.params.schedule_id);
      return reply.code(204).send(null);
    },
  );
}

function present(schedule: Schedule, now: number): z.infer<typeof scheduleSchema> {
  return {
    id: schedule.id,
    name: schedule.name,
    time_zone: schedule.timeZone,
    windows: [...schedule.windows],
    active_now: isActive(schedule, now),
    created_at: toDateTime(schedule.createdAt),
    updated_at: toDateTime(schedule.updatedAt),
  };
}
