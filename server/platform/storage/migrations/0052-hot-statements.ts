import type { Migration } from './types.ts';

/**
 * Statements that run for each agent that connects, and for each new forward, read only what they are about (docs/limits.md, "Cost of
 * an agent"). Each index holds few rows: what waits, or what has ended lately.
 */
function statements(): string[] {
  return [
    // Forwards of a router are kept for a long time. Its returning agent wants only those that have not expired.
    'drop index forwards_by_router',
    'create index forwards_by_router on forwards (router_id, expires_at)',
    // Ports that are in quarantine.
    'create index forwards_by_closing on forwards (closed_at) where closed_at is not null',
    // Backups that are still on the routers of a returning agent.
    'create index backups_waiting on backups (router_id) where due_at is not null',
    // Claims that wait for a decision: they are looked at every five seconds. Refused ones stay.
    "create index router_moves_open on router_moves (updated_at) where state <> 'refused'",
  ];
}

export const hotStatements: Migration = { number: 52, name: 'hot statements', statements };
