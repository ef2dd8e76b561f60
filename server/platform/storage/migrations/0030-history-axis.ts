import type { Migration } from './types.ts';

/** The states of one router in their order, also of those that began in the same millisecond. */
function statements(): string[] {
  return [
    'drop index router_state_changes_by_router',
    'create index router_state_changes_by_router on router_state_changes (router_id, since, id)',
  ];
}

export const historyAxis: Migration = { number: 30, name: 'history axis', statements };
