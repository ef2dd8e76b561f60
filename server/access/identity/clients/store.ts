import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { readRole } from '../../../platform/core/principal.ts';
import type { DbOrTx, Tx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { ClientsTable } from '../../../platform/storage/schema-identity.ts';
import { deleteRecordsOfClient } from '../provider/store.ts';
import type { Client, ClientKind } from '../types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';
export { insertRevocation } from '../../../platform/storage/revocations.ts';

function toClient(row: Selectable<ClientsTable>): Client {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    kind: row.kind as ClientKind,
    role: readRole(row.role),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    postLogoutRedirectUris: JSON.parse(row.post_logout_redirect_uris) as string[],
    createdBy: row.created_by,
    createdAt: row.created_at,
  };
}

export async function insertClient(db: DbOrTx, client: Client, secretHash: string | null): Promise<void> {
  await db
    .insertInto('clients')
    .values({
      id: client.id,
      team_id: client.teamId,
      name: client.name,
      kind: client.kind,
      role: client.role,
      redirect_uris: JSON.stringify(client.redirectUris),
      post_logout_redirect_uris: JSON.stringify(client.postLogoutRedirectUris),
      secret_hash: secretHash,
      created_by: client.createdBy,
      created_at: client.createdAt,
    })
    .execute();
}

/** Newest first. */
export async function selectClients(db: DbOrTx, teamId: string, page: Page): Promise<Client[]> {
  const rows = await db.selectFrom('clients').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toClient);
}

export async function selectClient(db: DbOrTx, teamId: string, id: string): Promise<Client | undefined> {
  const row = await db.selectFrom('clients').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
  return row && toClient(row);
}

/** By its id, in any team: for a sign-in that it starts. */
export async function selectClientAnywhere(db: DbOrTx, id: string): Promise<{ client: Client; secretHash: string | null } | undefined> {
  const row = await db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst();
  return row && { client: toClient(row), secretHash: row.secret_hash };
}

export async function countClients(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('clients')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function updateClient(db: DbOrTx, client: Client): Promise<void> {
  await db
    .updateTable('clients')
    .set({
      name: client.name,
      role: client.role,
      redirect_uris: JSON.stringify(client.redirectUris),
      post_logout_redirect_uris: JSON.stringify(client.postLogoutRedirectUris),
    })
    .where('team_id', '=', client.teamId)
    .where('id', '=', client.id)
    .execute();
}

export async function updateClientSecret(db: DbOrTx, teamId: string, id: string, secretHash: string): Promise<void> {
  await db.updateTable('clients').set({ secret_hash: secretHash }).where('team_id', '=', teamId).where('id', '=', id).execute();
}

/** With everything issued to it. @returns false when the team has no such client */
export async function deleteClient(tx: Tx, teamId: string, id: string): Promise<boolean> {
  const row = await tx.deleteFrom('clients').where('team_id', '=', teamId).where('id', '=', id).returning('id').executeTakeFirst();
  if (row === undefined) return false;
  await deleteRecordsOfClient(tx, id);
  return true;
}
