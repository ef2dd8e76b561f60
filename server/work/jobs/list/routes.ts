import { z } from 'zod';
import { chosen } from '../../../platform/core/list-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors } from '../../../platform/http/envelope.ts';
import {
  answerList,
  idOrNone,
  listEnvelope,
  listQuery,
  readAmong,
  readListPage,
  readRecordFilter,
  recordFilters,
  wordsFilter,
} from '../../../platform/http/list-query.ts';
import type { ListShape } from '../../../platform/http/list-query.ts';
import { jobExample, jobSchema, presentJob } from '../routes.ts';
import type { JobsService } from '../service.ts';
import { STATUSES } from '../state.ts';

const { output: _output, ...listedExample } = jobExample;
const listedJob = jobSchema.omit({ output: true }).meta({ id: 'ListedJob', examples: [listedExample] });

const shape = { name: 'jobs', sorts: { created_at: 'number' }, defaultSort: '-created_at', item: listedJob } as const satisfies ListShape<
  'created_at',
  string
>;

const query = listQuery(shape).extend({
  ...recordFilters,
  status: wordsFilter(STATUSES),
  site_id: idOrNone.describe('Where the router stood when the job was made; `none`: in no site'),
});

/** The jobs of all routers. */
export function teamJobsRoute(app: App, { jobs }: { jobs: JobsService }): void {
  app.get(
    '/api/jobs',
    {
      schema: {
        tags: ['jobs'],
        operationId: 'listTeamJobs',
        summary: 'List the jobs of every router of the team, newest first, without their output',
        querystring: query,
        response: { 200: listEnvelope(listedJob), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { query: given } = request;
      const page = readListPage(shape, given);
      const siteId = given.site_id === 'none' ? null : given.site_id;
      const filter = { ...readRecordFilter(given), statuses: chosen(STATUSES, readAmong(given.status)), siteId };
      const found = await jobs.findJobs(principalOf(request).teamId, filter, page, given.total === 'true');
      return answerList({ request, reply, shape, page }, found, (job) => ({ value: job.created_at, id: job.id }), presentListed);
    },
  );
}

function presentListed(job: Parameters<typeof presentJob>[0]): z.infer<typeof listedJob> {
  const { output: _left, ...listed } = presentJob(job);
  return listed;
}
