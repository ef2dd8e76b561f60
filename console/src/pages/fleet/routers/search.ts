import type { Router } from '../../../../../client/browser.ts';

/** What the address of the list holds: reloading it, or a colleague's copy, gives the same view. */
export interface RoutersSearch {
  /** Words of the filter: `state:agent_away core`. */
  q?: string;
  sort?: SortKey;
}

export const SORTS = ['state', 'identity', 'site', 'model', 'version', 'since'] as const;
export type SortKey = (typeof SORTS)[number];

export function readSearch(search: Record<string, unknown>): RoutersSearch {
  const { q, sort } = search;
  return { ...(typeof q === 'string' && q !== '' ? { q } : {}), ...(SORTS.includes(sort as SortKey) ? { sort: sort as SortKey } : {}) };
}

type Test = (router: Router) => boolean;

/**
 * Reads a filter. `state:`, `model:`, `version:` and `agent:` compare one field, a word alone is looked for in the texts of a router, and `-`
 * before either leaves its matches out. Words of one field are alternatives; different fields all have to match.
 */
export function filterOf(q: string): Test {
  const tests = new Map<string, Test[]>();
  for (const word of q.split(/\s+/).filter((part) => part !== '')) {
    const isNot = word.startsWith('-') && word.length > 1;
    const [, field, value] = /^(state|model|version|agent):(.*)$/.exec(isNot ? word.slice(1) : word) ?? [];
    const test = field === undefined ? containing(isNot ? word.slice(1) : word) : comparing(field, value!);
    // Each exclusion and each free word holds for itself.
    const key = isNot || field === undefined ? word : field;
    tests.set(key, [...(tests.get(key) ?? []), isNot ? (router) => !test(router) : test]);
  }
  const all = [...tests.values()];
  return (router) => all.every((any) => any.some((test) => test(router)));
}

function comparing(field: string, value: string): Test {
  const wanted = value.toLowerCase();
  if (field === 'state') {
    const state = wanted === 'away' ? 'agent_away' : wanted.replaceAll('-', '_');
    return (router) => router.state === state;
  }
  if (field === 'model') return ({ model }) => (model ?? '').toLowerCase().startsWith(wanted);
  if (field === 'version') return ({ software_version: version }) => version === value || version.startsWith(`${value}.`);
  return ({ agent_name: name }) => (name ?? '').toLowerCase() === wanted;
}

function containing(word: string): Test {
  const wanted = word.toLowerCase();
  return ({ identity, serial_number: serial, model, board_name: board, agent_name: agent, last_seen_from: from }) =>
    [identity, serial, model, board, agent, from].some((text) => text?.toLowerCase().includes(wanted));
}

/** Trouble first. */
const RANK = { agent_away: 0, not_answering: 1, never_seen: 2, answering: 3 } as const;
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

export function inOrder(routers: Router[], sort: SortKey, siteName: (id: string | null) => string): Router[] {
  const text = (read: (router: Router) => string | null) => (one: Router, other: Router) =>
    names.compare(read(one) ?? '', read(other) ?? '') || names.compare(one.identity, other.identity);
  const since = (one: Router, other: Router): number => (one.state_since ?? '').localeCompare(other.state_since ?? '');
  const orders: Record<SortKey, (one: Router, other: Router) => number> = {
    state: (one, other) =>
      RANK[one.state ?? 'never_seen'] - RANK[other.state ?? 'never_seen'] ||
      since(one, other) ||
      names.compare(one.identity, other.identity),
    identity: text((router) => router.identity),
    site: text((router) => siteName(router.site_id)),
    model: text((router) => router.model),
    version: text((router) => router.software_version),
    since: (one, other) => since(one, other) || names.compare(one.identity, other.identity),
  };
  return routers.sort(orders[sort]);
}
