import type { Input, Router } from '../../../../../client/browser.ts';
import { routersNamed } from '../run/search.ts';

type Query = NonNullable<Input<'listTeamForwards'>['query']>;

/** What the address of the list holds. */
export interface ForwardsSearch {
  /** Words of the filter: `status:closed core-1`. */
  q?: string;
  /** One router, by id or name. */
  router?: string;
}

export function readForwardsSearch({ q, router }: Record<string, unknown>): ForwardsSearch {
  return { ...(typeof q === 'string' && q !== '' ? { q } : {}), ...(typeof router === 'string' && router !== '' ? { router } : {}) };
}

export interface ForwardsFilter {
  query: Query;
  wrong?: string;
}

/** Open ones, unless the filter says `status:closed` or `status:all`. */
export function forwardsFilter({ q = '', router }: ForwardsSearch, routers: readonly Router[]): ForwardsFilter {
  const query: Query = { status: 'open' };
  for (const word of [...(router === undefined ? [] : [`router:${router}`]), ...q.split(/\s+/)].filter((part) => part !== '')) {
    const [, field, value] = /^(?:(status|router):)?(.*)$/.exec(word)!;
    if (field === 'status') {
      if (value === 'all') delete query.status;
      else if (value === 'open' || value === 'closed') query.status = value;
      else return { query, wrong: `There is no status ${value}. It is open, closed or all.` };
    } else {
      const [found] = routersNamed(value!, routers).routers;
      if (!found) return { query, wrong: `No router is called ${value}.` };
      if (query.router_id !== undefined && query.router_id !== found.id) {
        return { query, wrong: 'The list shows the forwards of one router, or of all.' };
      }
      query.router_id = found.id;
    }
  }
  return { query };
}

export interface NewForwardSearch {
  router?: string;
  /** `ADDRESS:PORT` to begin with. */
  to?: string;
}

export function readNewForwardSearch({ router, to }: Record<string, unknown>): NewForwardSearch {
  return { ...(typeof router === 'string' && router !== '' ? { router } : {}), ...(typeof to === 'string' && to !== '' ? { to } : {}) };
}
