import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Paths that begin with a router's id. A path with the router's name instead, as people type it, stays without. */
const BEFORE_THE_ID = ['/api/routers/', '/api/synchronous/', '/api/asynchronous/'];
const ID_CHARS = 36;

/** Which router an entry of the audit log is about, so that what was done with one router is found by an index. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table audit_log add column router_id ${text}`,
    ...BEFORE_THE_ID.map((path) => {
      const id = `lower(substr(target, ${path.length + 1}, ${ID_CHARS}))`;
      return `update audit_log set router_id = ${id} where target like '${path}%' and ${id} like '________-____-____-____-____________'`;
    }),
    'create index audit_log_by_router on audit_log (router_id, at, id) where router_id is not null',
    // Of two indexes that seem equally good to it, SQLite takes the older one: between two moments it read the backups of the whole team
    // to find those of one router.
    'drop index backups_by_team',
    'create index backups_by_team on backups (team_id, created_at, id)',
  ];
}

export const auditOfRouters: Migration = { number: 33, name: 'audit of routers', statements };
