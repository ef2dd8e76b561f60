import type { Input, Router } from '../../../../../client/browser.ts';

type Query = NonNullable<Input<'listTeamJobs'>['query']>;
type Status = NonNullable<Query['status']>[number];

/** What the address of the list holds. */
export interface JobsSearch {
  /** Words of the filter: `status:failed router:core-1`. */
  q?: string;
}

const STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;
/** Fields that are still being typed say nothing. */
const FIELDS = ['status:', 'router:', 'site:'];
/** Words of the lamps that differ from those of the interface. */
const SAID: Record<string, Status> = { waiting: 'pending', done: 'completed', canceled: 'deleted' };

export function readJobsSearch({ q }: Record<string, unknown>): JobsSearch {
  return typeof q === 'string' && q !== '' ? { q } : {};
}

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
  for (const [word, not, field, written] of q.matchAll(/(-?)(?:(status|router|site):)?("[^"]*"?|\S+)/g)) {
    const value = written!.replaceAll('"', '');
    if (value === '' || value === '-' || (field === undefined && FIELDS.includes(word.replace('-', '')))) continue;
    if (field === 'status') {
      const known = SAID[value] ?? STATUSES.find((one) => one === value);
      if (known === undefined) return { query, wrong: `There is no status ${value}. It is one of ${STATUSES.join(', ')}.` };
      status.push(not === '-' ? (`!${known}` as Status) : known);
    } else if (field === 'site') {
      if (not === '-') return { query, wrong: 'Only a status can be left out with a minus sign here.' };
      const wanted = value.toLowerCase();
      const site = wanted === 'none' ? 'none' : [...sites].find(([id, name]) => id === value || name.toLowerCase() === wanted)?.[0];
      if (site === undefined) return { query, wrong: `No site is called ${value}.` };
      query.site_id = site;
    } else {
      if (not === '-') return { query, wrong: 'Only a status can be left out with a minus sign here.' };
      const router = routers.find(({ id, identity }) => id === value || identity.toLowerCase() === value.toLowerCase());
      if (!router) return { query, wrong: `No router is called ${value}. Write status:failed, or a router's name.` };
      if (query.router_id !== undefined) return { query, wrong: 'The list shows the jobs of one router, or of all.' };
      query.router_id = router.id;
    }
  }
  return { query: { ...query, ...(status.length > 0 ? { status } : {}) } };
}
