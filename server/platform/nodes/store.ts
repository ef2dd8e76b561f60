import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import { capabilities } from '../storage/capabilities.ts';
import { nodes as nodesMigration } from '../storage/migrations/0066-nodes.ts';
import type { DbOrTx, Storage, Tx } from '../storage/db.ts';
import type { ServerRunsTable } from '../storage/schema-history.ts';
import type { NodesTable } from '../storage/schema-nodes.ts';

/** Few databases share a bus. */
const NAME_CHARS = 16;

export type NodeRecord = Selectable<NodesTable>;

/** False for the database of a program that knew no nodes, and for an empty one. */
export async function hasNodes({ db, engine }: Pick<Storage, 'db' | 'engine'>): Promise<boolean> {
  const found = await sql<{ found: unknown }>`select ${sql.raw(capabilities[engine].tableExists('schema_migrations'))} as found`.execute(
    db,
  );
  if (!found.rows[0]?.found) return false;
  const taken = await sql`select 1 from schema_migrations where number = ${nodesMigration.number}`.execute(db);
  return taken.rows.length > 0;
}

export async function selectNodes(db: DbOrTx): Promise<NodeRecord[]> {
  return db.selectFrom('nodes').selectAll().orderBy('id').execute();
}

/** Until the end of the transaction no other one claims. */
export async function lockNodes(tx: Tx, { engine }: Pick<Storage, 'engine'>): Promise<void> {
  for (const statement of capabilities[engine].nodesLock) await sql.raw(statement).execute(tx);
}

export async function insertNode(tx: Tx, node: Insertable<NodesTable>): Promise<void> {
  await tx.insertInto('nodes').values(node).execute();
}

/** @returns false when another control plane has taken the database over, or does not count on this one any more */
export async function raiseBeat(db: DbOrTx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set((eb) => ({ beat: eb('beat', '+', 1) }))
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** `draining` is obeyed with its next beat. @returns false when there is no such control plane */
export async function setNodeState(tx: Tx, id: string, state: NodeRecord['state']): Promise<boolean> {
  const { numUpdatedRows } = await tx.updateTable('nodes').set({ state }).where('id', '=', id).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** For one that drains because it was asked to, not because it stops. */
export async function takeWorkAgain(db: DbOrTx, id: string): Promise<void> {
  await db.updateTable('nodes').set({ state: 'up' }).where('id', '=', id).where('state', '=', 'draining').execute();
}

export async function setCertificateEnd(tx: Tx, id: string, endsAt: number | null): Promise<void> {
  await tx.updateTable('nodes').set({ certificate_ends_at: endsAt }).where('id', '=', id).execute();
}

/** What a control plane says of itself with each beat. */
export interface NodeLoad {
  /** Its agents. */
  tunnels: number;
  /** Connections of forwards, event streams and attached terminals. */
  clients: number;
  /** The bus is connected. */
  onBus: boolean;
  /** The row of its present run in the history, and its time; undefined before there is one. */
  run?: Pick<Selectable<ServerRunsTable>, 'id' | 'alive_at'> | undefined;
}

/**
 * {@link raiseBeat} of one of several: one statement also reads all of them, as they were before this beat, and notes until when it has run.
 * @returns undefined when the others do not count on this control plane any more
 */
export async function raiseBeatAmong(
  db: DbOrTx,
  id: string,
  { tunnels, clients, onBus, run }: NodeLoad,
): Promise<NodeRecord[] | undefined> {
  const rows = await db
    .with('raised', (own) =>
      own
        .updateTable('nodes')
        .set((eb) => ({ beat: eb('beat', '+', 1), tunnels, clients, on_bus: onBus ? 1 : 0 }))
        .where('id', '=', id)
        .returning('id'),
    )
    .with('alive', (history) =>
      history
        .updateTable('server_runs')
        .set({ alive_at: run?.alive_at ?? 0 })
        .where('id', '=', run?.id ?? null)
        .where('stopped_at', 'is', null)
        .where((eb) => eb.exists(eb.selectFrom('raised').select('raised.id'))),
    )
    .selectFrom('nodes')
    .selectAll('nodes')
    .select((eb) => eb.selectFrom('raised').select(eb.fn.countAll<number>().as('count')).as('raised'))
    .orderBy('nodes.id')
    .execute();
  return rows.some(({ raised }) => raised === 1) ? rows : undefined;
}

export async function deleteNode(db: DbOrTx, { id, beat }: Pick<NodeRecord, 'id'> & { beat?: number }): Promise<boolean> {
  let query = db.deleteFrom('nodes').where('id', '=', id);
  if (beat !== undefined) query = query.where('beat', '=', beat);
  const { numDeletedRows } = await query.executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What tells this database from any other, the same for all control planes on it: in letters and digits. Only on PostgreSQL. */
export async function selectDatabaseName(db: DbOrTx): Promise<string> {
  const found = await sql<{ name: string }>`
    select concat_ws(' ', system_identifier, current_database(), (select oid from pg_database where datname = current_database())) as name
    from pg_control_system()`.execute(db);
  return createHash('sha256').update(found.rows[0]!.name).digest('hex').slice(0, NAME_CHARS);
}
