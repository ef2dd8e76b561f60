import type { Router } from '../../../../client/browser.ts';
import { routersNamed } from './run/search.ts';

export interface StatusFilter<Status extends string> {
  /** Undefined: any. */
  status: Status | undefined;
  routerId?: string;
  /** What cannot be read, in a sentence. */
  wrong?: string;
}

interface Words<Status extends string> {
  /** Words of the filter: `status:closed core-1`. */
  q?: string | undefined;
  /** One router, by id or name. */
  router?: string | undefined;
  statuses: readonly Status[];
  /** Without a word about it. */
  usual: Status | undefined;
  /** What the list shows: `forwards`. */
  what: string;
}

/** The filter of lists that know a status and a router: `status:all` is any status, and a word alone is the name of a router. */
export function statusFilter<Status extends string>(
  { q = '', router, statuses, usual, what }: Words<Status>,
  routers: readonly Router[],
): StatusFilter<Status> {
  const filter: StatusFilter<Status> = { status: usual };
  for (const word of [...(router === undefined ? [] : [`router:${router}`]), ...q.split(/\s+/)].filter((part) => part !== '')) {
    const [, field, value] = /^(?:(status|router):)?(.*)$/.exec(word)!;
    if (field === 'status') {
      const status = statuses.find((each) => each === value);
      if (status === undefined && value !== 'all') return { ...filter, wrong: `There is no status ${value}. ${said(statuses)}` };
      filter.status = status;
    } else {
      const [found] = routersNamed(value!, routers).routers;
      if (!found) return { ...filter, wrong: `No router is called ${value}.` };
      if (filter.routerId !== undefined && filter.routerId !== found.id) {
        return { ...filter, wrong: `The list shows the ${what} of one router, or of all.` };
      }
      filter.routerId = found.id;
    }
  }
  return filter;
}

function said(statuses: readonly string[]): string {
  return `It is ${statuses.join(', ')} or all.`;
}
