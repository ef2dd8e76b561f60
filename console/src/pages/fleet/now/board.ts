import type { Router } from '../../../../../client/browser.ts';
import { compareTexts } from '../../../data/ranks.ts';
import type { SiteNames } from '../routers/search.ts';

type State = NonNullable<Router['state']>;

/** One line of the board. */
export interface BoardSite {
  /** Null: the routers without a site. */
  id: string | null;
  name: string;
  worst: State;
  answering: number;
  routers: readonly Router[];
}

const RANK: Record<State, number> = { agent_away: 0, not_answering: 1, never_seen: 2, answering: 3 };

/** The sites that have routers: trouble first, then by name. */
export function boardOf(routers: readonly Router[], siteNames: SiteNames): BoardSite[] {
  const groups = new Map<string | null, Router[]>();
  for (const router of routers) {
    const group = groups.get(router.site_id);
    if (group) group.push(router);
    else groups.set(router.site_id, [router]);
  }
  const sites = [...groups].map(([id, group]): BoardSite => {
    const states = group.map(({ state }) => state ?? 'never_seen');
    return {
      id,
      name: id === null ? 'no site' : (siteNames.get(id) ?? id),
      worst: states.reduce((worst, state) => (RANK[state] < RANK[worst] ? state : worst), 'answering'),
      answering: states.filter((state) => state === 'answering').length,
      routers: group,
    };
  });
  return sites.sort((one, other) => RANK[one.worst] - RANK[other.worst] || compareTexts(one.name, other.name));
}
