import { sql } from 'kysely';
import { AppError } from '../core/errors.ts';
import type { DbOrTx } from './db.ts';
import { nodeStates } from './migrations/0069-node-states.ts';
import { nodes } from './migrations/0066-nodes.ts';
import type { Migration } from './migrations/types.ts';

/** What a program before `nodes.program_schema` knew. */
const UNSAID = nodeStates.number - 1;

/** @returns the newest schema that a program must know to run on this database @param current the schema of the database */
export async function oldestProgram(db: DbOrTx, current: number): Promise<number> {
  // A program before this column refuses every newer schema by itself.
  if (current < nodeStates.number) return current;
  const { rows } = await sql<{ oldest: number }>`select max(coalesce(oldest_program, number)) as oldest from schema_migrations`.execute(db);
  return rows[0]?.oldest ?? current;
}

/** @returns the schema that every program must know after these steps; 0 when older ones may go on */
export function demandOf(due: readonly Migration[]): number {
  return Math.max(0, ...due.filter(({ expands }) => !expands).map(({ number }) => number));
}

/**
 * @param current the schema of the database
 * @throws AppError `conflict` when a control plane that serves the database does not know what these steps demand
 */
export async function refuseOlderMembers(db: DbOrTx, due: readonly Migration[], current: number): Promise<void> {
  const demand = demandOf(due);
  if (demand === 0 || current < nodes.number) return;
  const members = current < nodeStates.number ? sql`${UNSAID}` : sql`coalesce(program_schema, ${UNSAID})`;
  const reach = current <= nodes.number ? sql`true` : sql`public_url is not null`;
  const { rows } = await sql<{ name: string; version: string }>`
    select name, version from nodes where ${members} < ${demand} and ${reach} order by id limit 1`.execute(db);
  const [older] = rows;
  if (older) throw olderMember(older);
}

/** The newest schema that a control plane knows, also of a row that an older program has made. */
export function programSchemaOf(node: { program_schema?: number | null }): number {
  return node.program_schema ?? UNSAID;
}

/** A step that older programs cannot stand waits for them. */
export function olderMember({ name, version }: { name: string; version: string }): AppError {
  return new AppError(
    'conflict',
    `this program changes the database in a way that the control plane ${name}, version ${version}, cannot stand: stop that one first ` +
      '(docs/cluster.md)',
  );
}
