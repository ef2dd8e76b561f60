import type { Input, Router } from '../../../../../client/browser.ts';
import { filterWords } from '../../../parts/filter-words.ts';
import { routerOfFilter } from '../router-of-filter.ts';

type Query = NonNullable<Input<'listTeamJobs'>['query']>;
type Status = NonNullable<Query['status']>[number];

const STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;
const FIELDS = ['status', 'router', 'site'] as const;
/** As the page says them. */
const STATUSES_SAID = 'waiting, running, done, failed, canceled, expired, unknown';
/** Words of the lamps that differ from those of the interface. */
const SAID = new Map<string, Status>([
  ['waiting', 'pending'],
  ['done', 'completed'],
  ['canceled', 'deleted'],
]);

export interface JobsFilter {
  query: Query;
  /** What cannot be read in the filter, in a sentence. */
  wrong?: string;
}

/**
 * The filter as parameters of the list: the server filters, because it has more jobs than a page can hold.
 * @param sites names of sites by id
 */
export function jobsFilter(q: string, routers: readonly Router[], sites: ReadonlyMap<string, string>): JobsFilter {
  const status: Status[] = [];
  const query: Query = {};
  const words = filterWords(q, FIELDS);
  for (const { field, value, isNot } of words) {
    if (isNot && field !== 'status') return { query, wrong: 'Only a status can be left out with a minus sign here.' };
    if (field === 'status') {
      const known = SAID.get(value) ?? STATUSES.find((one) => one === value);
      if (known === undefined) return { query, wrong: noStatus(value) };
      status.push(isNot ? (`!${known}` as Status) : known);
    } else if (field === 'site') {
      const wanted = value.toLowerCase();
      const site = wanted === 'none' ? 'none' : [...sites].find(([id, name]) => id === value || name.toLowerCase() === wanted)?.[0];
      if (site === undefined) return { query, wrong: `No site is called ${value}.` };
      query.site_id = site;
    }
  }
  const named = words.filter(({ field }) => field === 'router' || field === undefined);
  const { routerId, wrong } = routerOfFilter(named, routers, { what: 'jobs', fields: FIELDS });
  if (wrong !== undefined) return { query, wrong };
  return { query: { ...query, ...(routerId === undefined ? {} : { router_id: routerId }), ...(status.length > 0 ? { status } : {}) } };
}

function noStatus(value: string): string {
  const one = `It is one of ${STATUSES_SAID}.`;
  // The lamps show it as a result of its own; the interface counts it among the failed ones.
  return value.startsWith('rolled')
    ? `A job that was rolled back counts as failed: write status:failed.`
    : `There is no status ${value}. ${one}`;
}
