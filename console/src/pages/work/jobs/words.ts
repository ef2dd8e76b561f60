import { countOf } from '../words.ts';

export const words = {
  jobs: 'Jobs',
  run: 'Run a script',
  filter: 'status:failed, or the name of a router',
  filterHint: 'status: router: site: \u00a0 - excludes',
  count: (count: number) => countOf(count, 'job'),
  countOver: (count: number) => `over ${countOf(count, 'job')}`,
  columns: { result: 'Result', router: 'Router', job: 'Job', took: 'Took', made: 'Made', noDescription: 'without a description' },
  noMatch: 'No job matches. Shorten the filter.',
  empty: 'No job has been made.',
  emptyHint: 'A job is a script for one router. It waits for its router, and it never runs twice.',
  mayNot: 'People with the role operator make jobs.',
  today: {
    title: 'Jobs of the last 24 hours',
    waiting: 'waiting',
    running: 'running',
    done: 'done',
    failed: 'failed',
    unknown: 'unknown',
    expired: 'expired',
    canceled: 'canceled',
  },
};
