import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Routers and agents that were removed: their records stay for what refers to them, and are in nobody's way. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    'alter table routers add column removed_at bigint',
    // The router that goes on with this hardware, once it has replaced another.
    `alter table routers add column merged_into ${text}`,
    'alter table agents add column removed_at bigint',
    // The same hardware that is enrolled again is a new router.
    'drop index routers_by_hardware',
    'create unique index routers_by_hardware on routers (team_id, hardware_id) where removed_at is null',
  ];
}

export const removedRouters: Migration = { number: 22, name: 'removed routers', statements };
