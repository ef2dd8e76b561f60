import type { Input, Router } from '../../../../client/browser.ts';
import { statusFilter } from '../work/status-filter.ts';
import type { TerminalsSearch } from './search.ts';

type Query = NonNullable<Input<'listTerminals'>['query']>;

/** All of them, unless the filter says `status:open` or `status:ended`. */
export function terminalsFilter({ q }: TerminalsSearch, routers: readonly Router[]): { query: Query; wrong?: string } {
  const words = { q, statuses: ['open', 'ended'], usual: undefined, what: 'terminals' } as const;
  const { status, routerId, wrong } = statusFilter<'open' | 'ended'>(words, routers);
  const query: Query = { ...(status === undefined ? {} : { status }), ...(routerId === undefined ? {} : { router_id: routerId }) };
  return wrong === undefined ? { query } : { query, wrong };
}
