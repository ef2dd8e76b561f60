import type { Input, Router } from '../../../../../client/browser.ts';
import { statusFilter } from '../status-filter.ts';
import type { ForwardsSearch } from './search.ts';

type Query = NonNullable<Input<'listTeamForwards'>['query']>;

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
