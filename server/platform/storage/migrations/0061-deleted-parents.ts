import type { Migration } from './types.ts';

/**
 * The database looks for the children of what is deleted: without these indexes it read all devices when a site was deleted, and the routers of
 * all campaigns when a router was purged.
 */
function statements(): string[] {
  return [
    'create index agents_by_site on agents (site_id) where site_id is not null',
    'create index enrol_tokens_by_site on enrol_tokens (site_id) where site_id is not null',
    'create index routers_by_site on routers (site_id, team_id) where site_id is not null',
    // The same columns as before with the site in front: a list of one site names both.
    'drop index devices_by_site',
    'create index devices_by_site on devices (site_id, team_id, first_seen_at, id)',
    'create index campaign_targets_by_router on campaign_targets (router_id)',
  ];
}

export const deletedParents: Migration = { number: 61, name: 'deleted parents', statements };
