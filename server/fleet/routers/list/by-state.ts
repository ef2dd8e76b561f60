import { nextTurn } from '../../../platform/core/loop-turns.ts';
import { firstOf } from '../../../platform/core/list-page.ts';
import type { Found, ListPage, SortValue } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import type { RouterRecord } from '../types.ts';
import { selectMatches, selectMatchesAmong, selectMatchPage, selectRoutersById } from './store.ts';
import type { Match } from './store.ts';
import type { RouterFilter, RouterSort, StateFilter } from './types.ts';

/** Up to so many routers are looked up by their ids, which takes some 5 ms; of more, the routers of the team are read. */
const FEW = 1000;
/** Routers that are read at once in the order of the list, at most: some 5 ms. */
const MOST_OF_STEP = 4000;

interface Query {
  filter: RouterFilter;
  states: StateFilter;
  page: ListPage<RouterSort>;
  wantsTotal: boolean;
}

/** The ids of a page, and how many match; undefined when that was not asked for. */
interface Chosen {
  ids: string[];
  count: number | undefined;
}

/**
 * One page of the routers in some states, or in the order of their states. What the list shows as a state is in memory and newer than any
 * table, so the page is chosen here. The database is asked only for what the states do not say, in steps with turns of the event loop between
 * them.
 */
export async function findByState(db: Db, teamId: string, query: Query): Promise<Found<RouterRecord>> {
  const { ids, count } = await chosenBy(db, teamId, query);
  await nextTurn();
  const byId = new Map((await selectRoutersById(db, teamId, ids)).map((router) => [router.id, router]));
  const total = query.wantsTotal && count !== undefined ? { count, isExact: true } : undefined;
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total };
}

function chosenBy(db: Db, teamId: string, query: Query): Promise<Chosen> {
  const { filter, states, page, wantsTotal } = query;
  const all = leavesAll(filter);
  if (page.sort === 'state_since' && all) return Promise.resolve(firstBySince(states, page));
  const isOrdered = page.sort !== 'state_since' && states.size > FEW && (all || !wantsTotal);
  return isOrdered ? inOrder(db, teamId, query) : amongAll(db, teamId, query);
}

function firstBySince(states: StateFilter, page: ListPage): Chosen {
  const first = firstOf(states.values(), page, ({ since }) => since);
  return { ids: first.map(({ id }) => id), count: states.size };
}

/** Most routers are in the wanted states: the list is read in its order until the page is full. */
async function inOrder(db: Db, teamId: string, { filter, states, page }: Query): Promise<Chosen> {
  const ids: string[] = [];
  let { after } = page;
  for (let limit = page.limit; ; limit = Math.min(2 * limit, MOST_OF_STEP)) {
    const step = await selectMatchPage(db, teamId, filter, { ...page, limit, after });
    for (const { id } of step) if (states.has(id) && ids.length < page.limit) ids.push(id);
    const last = step.at(-1);
    if (ids.length === page.limit || last === undefined || step.length < limit)
      return { ids, count: leavesAll(filter) ? states.size : undefined };
    after = last;
    await nextTurn();
  }
}

/** All that match are read, and the page is chosen among them. */
async function amongAll(db: Db, teamId: string, { filter, states, page }: Query): Promise<Chosen> {
  const { sort } = page;
  const found =
    states.size <= FEW
      ? await selectMatchesAmong(db, teamId, { filter, ids: [...states.keys()], sort })
      : await selectMatches(db, teamId, filter, sort);
  await nextTurn();
  const valueOf = ({ id, value }: Match): SortValue => (sort === 'state_since' ? states.get(id)!.since : value);
  const matches = found.filter(({ id }) => states.has(id));
  return { ids: firstOf(matches, page, valueOf).map(({ id }) => id), count: matches.length };
}

function leavesAll({ sites, agents, models, versions, search, removed = false }: RouterFilter): boolean {
  const isNamed = [sites, agents, models].some(({ only, not }) => only.length > 0 || not.length > 0);
  return !isNamed && !removed && versions.length === 0 && search === undefined;
}
