import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { callerGone } from '../../platform/http/caller-gone.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { pathId } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { BackupsService } from './service.ts';
import { BACKUP_ORIGINS, BACKUP_STATES, PARTS, TAKEN_PARTS } from './types.ts';
import type { Backup, BackupDiff, BackupOrigin } from './types.ts';

/** Backups contain passwords and keys, so only roles that may change the router can download them. */
const CONTENT_ROLE = 'operator';

export const backupExample = {
  id: '01a1fba0-2b45-7d91-8c1d-5e6f7a8b9c0d',
  job_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
  origin: 'job' as const,
  schedule_id: null,
  changed: null,
  state: 'stored' as const,
  error: null,
  created_at: '2031-05-01T08:30:00.310Z',
  stored_at: '2031-05-01T08:30:02.120Z',
  parts: [{ part: 'export' as const, size: 5120, sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' }],
};

export const backupSchema = z
  .object({
    id: z.string(),
    job_id: z.string().nullable().describe('null: taken without a job'),
    origin: z.enum(BACKUP_ORIGINS).describe('request: a caller requested it'),
    schedule_id: z.string().nullable(),
    changed: z
      .boolean()
      .nullable()
      .describe('Whether the export differs from the one before; null for a job, and while it is not compared'),
    state: z.enum(BACKUP_STATES).describe('pending: still on the router; lost: it could not be fetched'),
    error: z.string().nullable().describe('Why parts are missing'),
    created_at: dateTime,
    stored_at: dateTime.nullable(),
    parts: z.array(z.object({ part: z.enum(PARTS), size: z.number().describe('Bytes'), sha256: z.string() })),
  })
  .meta({ id: 'Backup', examples: [backupExample] });

const diffSchema = z
  .object({
    from: z.string().describe('Id of the backup'),
    to: z.string(),
    changed: z.boolean(),
    diff: z.string().describe('Unified diff of the text exports, without dates and comments'),
    truncated: z.boolean().describe('The diff was too long and is cut off'),
    coarse: z.boolean().describe('There are too many differences for the shortest diff: changed blocks are shown as replaced'),
  })
  .meta({
    id: 'BackupDiff',
    examples: [
      {
        from: '01a1fba0-2b45-7d91-8c1d-5e6f7a8b9c0d',
        to: '01a1fba0-2b45-7d91-8c1d-5e6f7a8b9c0d',
        changed: true,
        diff: '--- before\n+++ after\n@@ -1,2 +1,2 @@\n /system identity\n-set name=gw\n+set name=gw-depot\n',
        truncated: false,
        coarse: false,
      },
    ],
  });

const backupParams = routerParams.extend({ backup_id: pathId });

export function backupRoutes(app: App, { backups }: { backups: BackupsService }): void {
  listRoute(app, backups);
  takeRoute(app, backups);
  downloadRoute(app, backups);
  diffRoutes(app, backups);
}

function listRoute(app: App, backups: BackupsService): void {
  app.get(
    '/api/routers/:router_id/backups',
    {
      schema: {
        tags: ['backups'],
        operationId: 'listBackups',
        summary: 'List the backups of a router, newest first',
        params: routerParams,
        querystring: pageQuery,
        response: { 200: envelope(z.array(backupSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const found = await backups.listBackups(principalOf(request).teamId, request.params.router_id, page);
      linkNext(request, reply, page, found, ({ record }) => ({ at: record.created_at, id: record.id }));
      return success(found.map(presentBackup));
    },
  );
}

const takeSchema = z
  .object({
    parts: z
      .array(z.enum(TAKEN_PARTS))
      .min(1)
      .max(TAKEN_PARTS.length)
      .default([...TAKEN_PARTS])
      .describe('An export alone writes nothing on the router'),
  })
  .meta({ id: 'NewBackup', examples: [{ parts: ['export'] }] });

function takeRoute(app: App, backups: BackupsService): void {
  app.post(
    '/api/routers/:router_id/backups',
    {
      config: { role: CONTENT_ROLE },
      schema: {
        tags: ['backups'],
        operationId: 'takeBackup',
        summary: 'Take a backup of a router now, without a job',
        description: 'The answer is `pending`. It becomes `stored` like the backup of a job; while the agent is away, it waits.',
        params: routerParams,
        body: takeSchema.nullable(),
        response: {
          200: envelope(backupSchema),
          ...commonErrors,
          409: problemSchema.describe('A backup of this router that was asked for is under way'),
        },
      },
    },
    async (request) => {
      const parts = request.body?.parts ?? TAKEN_PARTS;
      const backup = await backups.takeNow(principalOf(request).teamId, request.params.router_id, parts);
      request.auditDetail = `${parts.join(', ')} (backup ${backup.record.id})`;
      return success(presentBackup(backup));
    },
  );
}

function downloadRoute(app: App, backups: BackupsService): void {
  app.get(
    '/api/routers/:router_id/backups/:backup_id',
    {
      config: { role: CONTENT_ROLE },
      schema: {
        tags: ['backups'],
        operationId: 'downloadBackup',
        summary: 'Download a part of a backup',
        params: backupParams,
        querystring: z.object({ part: z.enum(PARTS).default('export').describe('export_after: taken after the job') }),
        response: { 200: { description: 'The file', content: { 'application/octet-stream': { schema: z.string() } } }, ...commonErrors },
      },
    },
    async (request, reply) => {
      const { router_id: routerId, backup_id: backupId } = request.params;
      const file = await backups.readFile(principalOf(request).teamId, routerId, backupId, request.query.part);
      return reply
        .header('content-disposition', `attachment; filename="${file.name}"`)
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        .type('application/octet-stream')
        .send(file.content as never);
    },
  );
}

function diffRoutes(app: App, backups: BackupsService): void {
  app.get(
    '/api/routers/:router_id/backups/:backup_id/diff/:other_id',
    {
      config: { role: CONTENT_ROLE },
      schema: {
        tags: ['backups'],
        operationId: 'compareBackups',
        summary: 'Show what changed on the router from one backup to another',
        params: backupParams.extend({ other_id: pathId }),
        response: { 200: envelope(diffSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { router_id: routerId, backup_id: from, other_id: to } = request.params;
      return success(presentDiff(await backups.compare(principalOf(request).teamId, routerId, { from, to }, callerGone(reply.raw))));
    },
  );
  app.get(
    '/api/routers/:router_id/jobs/:job_id/changes',
    {
      config: { role: CONTENT_ROLE },
      schema: {
        tags: ['backups'],
        operationId: 'getJobChanges',
        summary: 'Show what a job changed on its router',
        description: 'For jobs with `make_backup`: compares the export from before the script with the one from directly after it.',
        params: routerParams.extend({ job_id: pathId }),
        response: {
          200: envelope(diffSchema),
          ...commonErrors,
          409: problemSchema.describe('The exports from before and after the job are missing, or not fetched yet'),
        },
      },
    },
    async (request, reply) => {
      const { router_id: routerId, job_id: jobId } = request.params;
      return success(presentDiff(await backups.changesOf(principalOf(request).teamId, routerId, jobId, callerGone(reply.raw))));
    },
  );
}

export function presentBackup({ record, parts }: Backup): z.infer<typeof backupSchema> {
  return {
    id: record.id,
    job_id: record.job_id,
    origin: record.origin as BackupOrigin,
    schedule_id: record.schedule_id,
    changed: record.changed === null ? null : record.changed === 1,
    state: record.state as (typeof BACKUP_STATES)[number],
    error: record.error,
    created_at: toDateTime(record.created_at),
    stored_at: toDateTimeOrNull(record.stored_at),
    parts: PARTS.flatMap((part) => parts.filter((row) => row.part === part).map(({ size, sha256 }) => ({ part, size, sha256 }))),
  };
}

function presentDiff({ from, to, diff, truncated, coarse }: BackupDiff): z.infer<typeof diffSchema> {
  return { from: from.id, to: to.id, changed: diff !== '', diff, truncated, coarse };
}
