import { nextTurn } from '../../../platform/core/loop-turns.ts';
import { firstOf } from '../../../platform/core/list-page.ts';
import type { Found, ListPage, SortValue } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import type { RouterRecord } from '../types.ts';
import { selectMatches, selectMatchesAmong, selectRoutersById } from './store.ts';
import type { RouterFilter, RouterSort, StateFilter } from './types.ts';

/** Up to so many routers are looked up by their ids, which takes some 5 ms; of more, all routers of the team are read. */
const FEW = 1000;

/**
 * One page of the routers in some states, or in the order of their states. What the list shows as a state is in memory and newer than any
 * table, so the page is chosen here. The database is asked only for what the states do not say, in steps with turns of the event loop between
 * them.
 */
export async function findByState(
  db: Db,
  teamId: string,
  { filter, states, page }: { filter: RouterFilter; states: StateFilter; page: ListPage<RouterSort> },
): Promise<Found<RouterRecord>> {
  const matches = await matchesOf(db, teamId, { filter, states, sort: page.sort });
  await nextTurn();
  const ids = firstOf(matches, page).map(({ id }) => id);
  const byId = new Map((await selectRoutersById(db, teamId, ids)).map((router) => [router.id, router]));
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total: { count: matches.length, isExact: true } };
}

interface Match {
  id: string;
  value: SortValue;
}

/** The routers that match, with their values in the order. */
async function matchesOf(
  db: Db,
  teamId: string,
  { filter, states, sort }: { filter: RouterFilter; states: StateFilter; sort: RouterSort },
): Promise<Match[]> {
  const isBySince = sort === 'state_since';
  if (isBySince && leavesAll(filter)) return [...states].map(([id, { since }]) => ({ id, value: since }));
  const found =
    states.size <= FEW
      ? await selectMatchesAmong(db, teamId, { filter, ids: [...states.keys()], sort })
      : await selectMatches(db, teamId, filter, sort);
  await nextTurn();
  return found.flatMap(({ id, value }) => {
    const state = states.get(id);
    return state ? [{ id, value: isBySince ? state.since : value }] : [];
  });
}

function leavesAll({ sites, agents, models, versions, search, removed = false }: RouterFilter): boolean {
  const isNamed = [sites, agents, models].some(({ only, not }) => only.length > 0 || not.length > 0);
  return !isNamed && !removed && versions.length === 0 && search === undefined;
}
