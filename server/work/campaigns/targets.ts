import { invalidField } from '../../platform/core/errors.ts';
import type { Tx } from '../../platform/storage/db.ts';
import { selectKnownRouters, selectKnownSites, selectRoutersAtSites } from './store.ts';
import type { NewCampaign } from './types.ts';

/** A whole fleet in one campaign; for more, create several. */
export const MOST_TARGETS = 10_000;
/** Names listed in an error. */
const NAMED_AT_MOST = 5;

/**
 * The routers of a campaign: the named ones in this order, then those of the sites, each once. An empty selection is an error and never
 * means the whole fleet. A router or site of another team is reported like one that does not exist.
 * @throws AppError `invalid` naming the field
 */
export async function chooseTargets(tx: Tx, teamId: string, wanted: Pick<NewCampaign, 'routerIds' | 'siteIds'>): Promise<string[]> {
  const { routerIds, siteIds } = wanted;
  if (routerIds === undefined && siteIds === undefined) throw invalidField('router_ids', 'name routers here, or sites in site_ids');
  if (routerIds?.length === 0) throw invalidField('router_ids', 'must not be empty');
  if (siteIds?.length === 0) throw invalidField('site_ids', 'must not be empty');
  const named = await checkRouters(tx, teamId, routerIds ?? []);
  const targets = new Set([...named, ...(await routersAt(tx, teamId, siteIds ?? []))]);
  if (targets.size === 0) throw invalidField('site_ids', 'no router stands there');
  if (targets.size > MOST_TARGETS) throw invalidField('site_ids', `more than ${MOST_TARGETS} routers`);
  return [...targets];
}

async function checkRouters(tx: Tx, teamId: string, routerIds: readonly string[]): Promise<readonly string[]> {
  const known = await selectKnownRouters(tx, teamId, routerIds);
  const unknown = routerIds.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField('router_ids', `unknown: ${listed(unknown)}`);
  return routerIds;
}

async function routersAt(tx: Tx, teamId: string, siteIds: readonly string[]): Promise<string[]> {
  if (siteIds.length === 0) return [];
  const known = await selectKnownSites(tx, teamId, siteIds);
  const unknown = siteIds.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField('site_ids', `unknown: ${listed(unknown)}`);
  return selectRoutersAtSites(tx, teamId, siteIds, MOST_TARGETS + 1);
}

function listed(ids: readonly string[]): string {
  const more = ids.length - NAMED_AT_MOST;
  return ids.slice(0, NAMED_AT_MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
