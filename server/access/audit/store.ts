import type { Page } from '../../platform/core/page.ts';
import type { DbOrTx, Storage } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { AuditEntry, AuditFilter, ListedAuditEntry } from './types.ts';

export async function insertAuditEntries(storage: Storage, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await storage.writes.write(async (tx) => {
    await tx.insertInto('audit_log').values(entries).execute();
  });
}

/** Sorts after every other text in the byte order that both databases use. */
const LAST_CHARACTER = '\u{10FFFF}';

/** Newest first, with the actor's current name. */
export async function selectAuditEntries(db: DbOrTx, teamId: string, filter: AuditFilter, page: Page): Promise<ListedAuditEntry[]> {
  let query = db
    .selectFrom('audit_log')
    .leftJoin('api_keys', (join) =>
      join.onRef('api_keys.id', '=', 'audit_log.actor_id').onRef('api_keys.team_id', '=', 'audit_log.team_id'),
    )
    // Includes people who have left the team: their entries keep their name.
    .leftJoin('users', (join) => join.onRef('users.id', '=', 'audit_log.actor_id').on('audit_log.actor_kind', '=', 'user'))
    .selectAll('audit_log')
    .select((eb) => eb.fn.coalesce('api_keys.name', 'users.email').as('actor_name'))
    .where('audit_log.team_id', '=', teamId);
  const { actor, action, since, until } = filter;
  if (actor !== undefined) query = query.where('actor_id', '=', actor);
  if (action !== undefined) query = query.where('action', '>=', action).where('action', '<', action + LAST_CHARACTER);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  return query.$call(newestFirst(page, 'audit_log.at', 'audit_log.id')).execute();
}
