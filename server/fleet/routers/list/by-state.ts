import { nextTurn } from '../../../platform/core/loop-turns.ts';
import { sortPage } from '../../../platform/core/list-page.ts';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import type { RouterRecord } from '../types.ts';
import { selectMatches, selectRoutersById } from './store.ts';
import type { RouterFilter, RouterSort, StateFilter } from './types.ts';

/**
 * One page of the routers in some states, or in the order of their states. What the list shows as a state is in memory and newer than any
 * table, so the ids and values of all routers that match are read (10,000 in some 10 ms) and the page is chosen here, in steps with turns of the
 * event loop between them.
 */
export async function findByState(
  db: Db,
  teamId: string,
  { filter, states, page }: { filter: RouterFilter; states: StateFilter; page: ListPage<RouterSort> },
): Promise<Found<RouterRecord>> {
  const all = await selectMatches(db, teamId, filter, page.sort);
  await nextTurn();
  const matches = all.flatMap(({ id, value }) => {
    const state = states.stateOf(id);
    if (!state || !states.wanted.includes(state.state)) return [];
    return [{ id, value: page.sort === 'state_since' ? state.since : value }];
  });
  await nextTurn();
  const ids = sortPage(matches, page).map(({ id }) => id);
  const byId = new Map((await selectRoutersById(db, teamId, ids)).map((router) => [router.id, router]));
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total: { count: matches.length, isExact: true } };
}
