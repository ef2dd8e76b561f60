import type { Input, Router } from '../../../../../client/browser.ts';
import { statusFilter } from '../status-filter.ts';

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
export function forwardsFilter(search: ForwardsSearch, routers: readonly Router[]): ForwardsFilter {
  const words = { ...search, statuses: ['open', 'closed'], usual: 'open', what: 'forwards' } as const;
  const { status, routerId, wrong } = statusFilter<'open' | 'closed'>(words, routers);
  const query: Query = { ...(status === undefined ? {} : { status }), ...(routerId === undefined ? {} : { router_id: routerId }) };
  return wrong === undefined ? { query } : { query, wrong };
}

export interface NewForwardSearch {
  router?: string;
  /** `ADDRESS:PORT` to begin with. */
  to?: string;
}

export function readNewForwardSearch({ router, to }: Record<string, unknown>): NewForwardSearch {
  return { ...(typeof router === 'string' && router !== '' ? { router } : {}), ...(typeof to === 'string' && to !== '' ? { to } : {}) };
}
