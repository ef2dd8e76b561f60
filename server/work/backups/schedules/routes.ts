import { z } from 'zod';
import { ianaTimeZone } from '../../../platform/core/time-zone.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { BackupSchedules } from './service.ts';
import type { Schedule } from './types.ts';

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const fields = {
  time: z
    .string()
    .regex(TIME, 'must be a time from 00:00 to 23:59')
    .describe("By the clocks of the router's site")
    .meta({ examples: ['02:30'] }),
  time_zone: z
    .string()
    .max(100)
    .refine((name) => ianaTimeZone(name) !== undefined, 'is not an IANA time zone')
    .describe('For routers whose site has no time zone')
    .meta({ examples: ['Europe/Berlin'] }),
  // At most the time ahead for which a fetch is planned (LONGEST_RETRY_MS).
  spread_minutes: z.int().min(1).max(60).describe('The exports of one run begin within so many minutes'),
  // At most what is kept of a router anyway (DEFAULT_BACKUP_RULES.keepPerRouter).
  keep: z.int().min(1).max(50).describe('Stored backups of each router that are kept'),
  enabled: z.boolean(),
};

const newBody = z
  .object({
    ...fields,
    site_id: pathId.nullable().default(null).describe('null: for all routers of the team whose site has no schedule of its own'),
    time_zone: fields.time_zone.default('UTC'),
    spread_minutes: fields.spread_minutes.default(30),
    keep: fields.keep.default(14),
    enabled: fields.enabled.default(true),
  })
  .meta({ id: 'NewBackupSchedule', examples: [{ time: '02:30', keep: 14 }] });

const changeBody = z
  .object(fields)
  .partial()
  .meta({ id: 'BackupScheduleChange', examples: [{ time: '03:15' }] });

const scheduleSchema = z
  .object({
    id: z.string(),
    site_id: z.string().nullable(),
    ...fields,
    next_at: dateTime.nullable().describe('The earliest run in any time zone of its routers; null while it is switched off'),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({
    id: 'BackupSchedule',
    examples: [
      {
        id: '01a1fba0-77aa-7e01-9b3c-2f4d6a8c0e12',
        site_id: null,
        time: '02:30',
        time_zone: 'Europe/Berlin',
        spread_minutes: 30,
        keep: 14,
        enabled: true,
        next_at: '2031-05-02T00:30:00.000Z',
        created_at: '2031-05-01T08:30:00.000Z',
        updated_at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });

const params = z.object({ backup_schedule_id: pathId });
const tags = ['backups'];

/** Nightly exports. */
export function scheduleRoutes(app: App, { backupSchedules }: { backupSchedules: BackupSchedules }): void {
  readRoutes(app, backupSchedules);
  writeRoutes(app, backupSchedules);
}

function readRoutes(app: App, schedules: BackupSchedules): void {
  app.get(
    '/api/backup-schedules',
    {
      schema: {
        tags,
        operationId: 'listBackupSchedules',
        summary: 'List the backup schedules of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(scheduleSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await schedules.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, found, ({ record }) => ({ at: record.created_at, id: record.id }));
      return success(found.map(present));
    },
  );
  app.get(
    '/api/backup-schedules/:backup_schedule_id',
    {
      schema: {
        tags,
        operationId: 'getBackupSchedule',
        summary: 'Read one backup schedule',
        params,
        response: { 200: envelope(scheduleSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await schedules.get(principalOf(request).teamId, request.params.backup_schedule_id))),
  );
}

function writeRoutes(app: App, schedules: BackupSchedules): void {
  app.post(
    '/api/backup-schedules',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'createBackupSchedule',
        summary: 'Export the routers of the team, or of a site, every night',
        body: newBody,
        response: { 200: envelope(scheduleSchema), ...commonErrors, 409: problemSchema.describe('The team or the site has a schedule') },
      },
    },
    async (request) => {
      const { site_id: siteId, ...body } = request.body;
      const { teamId } = principalOf(request);
      const given = { timeZone: body.time_zone, spreadMinutes: body.spread_minutes, keep: body.keep, enabled: body.enabled };
      return success(present(await schedules.create({ teamId, siteId, minutes: minutesOf(body.time), ...given })));
    },
  );
  app.patch(
    '/api/backup-schedules/:backup_schedule_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'changeBackupSchedule',
        summary: 'Change a backup schedule',
        params,
        body: changeBody,
        response: { 200: envelope(scheduleSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { body } = request;
      const change = {
        minutes: body.time === undefined ? undefined : minutesOf(body.time),
        timeZone: body.time_zone,
        spreadMinutes: body.spread_minutes,
        keep: body.keep,
        enabled: body.enabled,
      };
      return success(present(await schedules.change(principalOf(request).teamId, request.params.backup_schedule_id, change)));
    },
  );
  app.delete(
    '/api/backup-schedules/:backup_schedule_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: 'deleteBackupSchedule',
        summary: 'Delete a backup schedule; its backups stay',
        params,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await schedules.delete(principalOf(request).teamId, request.params.backup_schedule_id);
      return reply.code(204).send(null);
    },
  );
}

/** After midnight. */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function present({ record, nextAt }: Schedule): z.infer<typeof scheduleSchema> {
  const twoDigits = (number: number): string => String(number).padStart(2, '0');
  return {
    id: record.id,
    site_id: record.site_id,
    time: `${twoDigits(Math.floor(record.minutes / 60))}:${twoDigits(record.minutes % 60)}`,
    time_zone: record.time_zone,
    spread_minutes: record.spread_minutes,
    keep: record.keep,
    enabled: record.enabled === 1,
    next_at: toDateTimeOrNull(nextAt),
    created_at: toDateTime(record.created_at),
    updated_at: toDateTime(record.updated_at),
  };
}
