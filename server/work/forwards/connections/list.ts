import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { selectConnections } from './store.ts';
import type { LoggedConnection } from './store.ts';
import type { ForwardKey } from '../store.ts';
import type { ListedConnection } from '../types.ts';

/**
 * One page of a forward's connections, newest first. @param open the connections that were open just before this call. The
 * database is read after them, so that a connection that ends meanwhile is listed once, with its end
 */
export async function listConnections(
  db: DbOrTx,
  key: ForwardKey,
  page: Page,
  open: readonly LoggedConnection[],
): Promise<ListedConnection[]> {
  const listed = new Map<string, ListedConnection>();
  for (const connection of open) if (isOnPage(connection, page)) listed.set(connection.id, stillOpen(connection));
  for (const record of await selectConnections(db, key, page)) listed.set(record.id, record);
  return [...listed.values()].sort(newestFirst).slice(0, page.limit);
}

function stillOpen({ id, teamId, forwardId, source, openedAt, bytesIn, bytesOut, endedBy }: LoggedConnection): ListedConnection {
  return {
    id,
    team_id: teamId,
    forward_id: forwardId,
    source,
    opened_at: openedAt,
    closed_at: null,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    ended_by: endedBy,
  };
}

function isOnPage({ openedAt, id }: LoggedConnection, { before }: Page): boolean {
  return !before || openedAt < before.at || (openedAt === before.at && id < before.id);
}

function newestFirst(one: ListedConnection, other: ListedConnection): number {
  return other.opened_at - one.opened_at || (one.id < other.id ? 1 : -1);
}
