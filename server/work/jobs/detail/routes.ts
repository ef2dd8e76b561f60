import { z } from 'zod';
import { hasRole } from '../../../platform/core/principal.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../../platform/http/envelope.ts';
import { GUARD_STATES, guardOf } from '../guard.ts';
import { jobExample, jobParams, jobSchema, presentJob } from '../routes.ts';
import type { JobsService } from '../service.ts';
import { PHASES } from '../state.ts';
import { NOTE_KINDS } from '../timeline/notes.ts';
import type { JobTimelines } from '../timeline/timelines.ts';
import { TIMELINE_BY, WAITS_FOR } from '../timeline/types.ts';
import type { TimelineItem } from '../timeline/types.ts';
import type { JobRecord } from '../types.ts';

/** A script may hold passwords: those who may write scripts may read them. */
const READS_SCRIPTS: Role = 'operator';
/** The role that reads the audit log also reads here who did what. */
const READS_AUDIT: Role = 'admin';

const detailSchema = jobSchema
  .extend({
    script: z.string().nullable().describe('Null for viewers'),
    agent_id: z.string().nullable().describe('The agent that has taken it'),
    accepted_at: dateTime.nullable().describe('When its agent had it on disk'),
    created_by: z.string().nullable().describe('Id of the API key or the person'),
    campaign_id: z.string().nullable().describe('The campaign that made it'),
    guard: z
      .object({
        state: z.enum(GUARD_STATES).describe('fired: the router has undone the script. unknown: nobody has said'),
        armed_at: dateTime.nullable(),
        fires_in_s: z.int().nullable().describe('Seconds until the router undoes the script; null unless it is armed'),
      })
      .nullable()
      .describe('The undo guard; null for a job without one, or of which none was armed'),
  })
  .meta({
    id: 'JobDetail',
    examples: [
      {
        ...jobExample,
        script: ':put [/system identity get name]',
        agent_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        accepted_at: '2031-05-01T08:30:00.050Z',
        created_by: '01a1fb90-22bb-7d2c-9f0e-3a1c5e7b9d24',
        campaign_id: null,
        guard: null,
      },
    ],
  });

const itemSchema = z
  .object({
    kind: z
      .enum(['created', 'waiting', ...NOTE_KINDS])
      .describe('waiting: no agent has it yet. gave_up: its result is overdue or lost. refused: its agent does not begin it'),
    at: dateTime,
    until: dateTime.nullable().describe('The end of a wait; null while it goes on, and for everything else'),
    phase: z.enum(PHASES).nullable().describe('The phase of the job from then on; null for what changes no phase'),
    epoch: z.int().nullable().describe("Number of the agent's session that reported it"),
    by: z
      .object({
        type: z.enum(TIMELINE_BY).describe('unknown: a key or person that is no longer known, or callers who may not read the audit log'),
        id: z.string().nullable(),
        name: z.string().nullable().describe('For callers who may read the audit log'),
      })
      .nullable()
      .describe('Who or what caused it; null for a wait'),
    reason: z.string().nullable().describe('Of a wait: why the router does not answer, or how the last session of its agent ended'),
    waits_for: z
      .enum(WAITS_FOR)
      .nullable()
      .describe('agent: it has no session. router: it does not answer. turn: the next check-in, or other jobs. unknown: nobody knows'),
  })
  .meta({
    id: 'JobTimelineItem',
    examples: [
      {
        kind: 'waiting',
        at: '2031-05-01T08:30:00.000Z',
        until: '2031-05-01T09:12:30.000Z',
        phase: null,
        epoch: null,
        by: null,
        reason: 'silence',
        waits_for: 'agent',
      },
    ],
  });

export interface JobDetailDeps {
  jobs: JobsService;
  jobTimelines: JobTimelines;
  now: () => number;
}

/** One job with everything that is known of it. */
export function jobDetailRoutes(app: App, { jobs, jobTimelines, now }: JobDetailDeps): void {
  app.get(
    '/api/routers/:router_id/jobs/:job_id',
    {
      schema: {
        tags: ['jobs'],
        operationId: 'getJob',
        summary: 'Read one job',
        params: jobParams,
        response: { 200: envelope(detailSchema), ...commonErrors },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const { router_id: routerId, job_id: jobId } = request.params;
      const job = await jobs.getJob(principal.teamId, routerId, jobId);
      const campaignId = await jobTimelines.campaignOf(job);
      return success(presentDetail(job, { campaignId, withScript: hasRole(principal, READS_SCRIPTS), now: now() }));
    },
  );
  app.get(
    '/api/routers/:router_id/jobs/:job_id/timeline',
    {
      schema: {
        tags: ['jobs'],
        operationId: 'getJobTimeline',
        summary: 'Read what happened to a job, in its order: each transition with its moment and cause, and what it waited for',
        params: jobParams,
        response: { 200: envelope(z.object({ job_id: z.string(), timeline: z.array(itemSchema) })), ...commonErrors },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const { router_id: routerId, job_id: jobId } = request.params;
      const job = await jobs.getJob(principal.teamId, routerId, jobId);
      const items = await jobTimelines.of(job, hasRole(principal, READS_AUDIT));
      return success({ job_id: job.id, timeline: items.map(presentItem) });
    },
  );
}

function presentDetail(
  job: JobRecord,
  { campaignId, withScript, now }: { campaignId: string | null; withScript: boolean; now: number },
): z.infer<typeof detailSchema> {
  const guard = guardOf(job, now);
  return {
    ...presentJob(job),
    script: withScript ? job.script : null,
    agent_id: job.agent_id,
    accepted_at: toDateTimeOrNull(job.accepted_at),
    created_by: job.created_by,
    campaign_id: campaignId,
    guard: guard && { state: guard.state, armed_at: toDateTimeOrNull(guard.armedAt), fires_in_s: guard.firesInSeconds },
  };
}

function presentItem({ at, until, waitsFor, ...rest }: TimelineItem): z.infer<typeof itemSchema> {
  return { ...rest, at: toDateTime(at), until: toDateTimeOrNull(until), waits_for: waitsFor };
}
