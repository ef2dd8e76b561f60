import type { z } from 'zod';
import { chosen } from '../../../platform/core/list-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { idOrNone, readAmong, wordsFilter } from '../../../platform/http/list-query.ts';
import { recordListRoute } from '../../../platform/http/record-list.ts';
import { jobExample, jobSchema, presentJob } from '../routes.ts';
import type { JobsService } from '../service.ts';
import { STATUSES } from '../state.ts';

const { output: _output, ...listedExample } = jobExample;
const listedJob = jobSchema.omit({ output: true }).meta({ id: 'ListedJob', examples: [listedExample] });

/** The jobs of all routers. */
export function teamJobsRoute(app: App, { jobs }: { jobs: JobsService }): void {
  recordListRoute(app, {
    path: '/api/jobs',
    tag: 'jobs',
    operationId: 'listTeamJobs',
    summary: 'List the jobs of every router of the team, newest first, without their output',
    name: 'jobs',
    item: listedJob,
    filters: {
      status: wordsFilter(STATUSES),
      site_id: idOrNone.describe('Where the router stood when the job was made; `none`: in no site'),
    },
    find: ({ teamId, filter, given, page, wantsTotal }) => {
      const siteId = given.site_id === 'none' ? null : given.site_id;
      return jobs.findJobs(teamId, { ...filter, statuses: chosen(STATUSES, readAmong(given.status)), siteId }, page, wantsTotal);
    },
    recordOf: (job) => job,
    present: presentListed,
  });
}

function presentListed(job: Parameters<typeof presentJob>[0]): z.infer<typeof listedJob> {
  const { output: _left, ...listed } = presentJob(job);
  return listed;
}
