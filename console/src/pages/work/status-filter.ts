import type { Router } from '../../../../client/browser.ts';
import { filterWords } from '../../parts/filter-words.ts';
import { routerOfFilter } from './router-of-filter.ts';

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

const FIELDS = ['status', 'router'] as const;

/** The filter of lists that know a status and a router: `status:all` is any status, and words without a field are the name of a router. */
export function statusFilter<Status extends string>(
  { q = '', router, statuses, usual, what }: Words<Status>,
  routers: readonly Router[],
): StatusFilter<Status> {
  const filter: StatusFilter<Status> = { status: usual };
  const words = filterWords(q, FIELDS);
  for (const { value, isNot } of words.filter(({ field }) => field === 'status')) {
    if (isNot) return { ...filter, wrong: `A status cannot be left out with a minus sign here. ${said(statuses)}` };
    const status = statuses.find((each) => each === value);
    if (status === undefined && value !== 'all') return { ...filter, wrong: `There is no status ${value}. ${said(statuses)}` };
    filter.status = status;
  }
  const named = words.filter(({ field }) => field !== 'status');
  const ofAddress = router === undefined ? [] : [{ text: `"${router}"`, at: 0, isNot: false, field: undefined, value: router }];
  return { ...filter, ...routerOfFilter([...ofAddress, ...named], routers, { what, fields: FIELDS }) };
}

function said(statuses: readonly string[]): string {
  return `It is ${statuses.join(', ')} or all.`;
}
