import { CompiledQuery, sql } from 'kysely';
import type { KyselyPlugin, RootOperationNode } from 'kysely';
import type { Db, Storage } from '../../server/platform/storage/db.ts';

/** How a database finds the rows of one statement. */
export interface Plan {
  statement: string;
  /** Each reading of a table: by which index, and with which conditions; `null` for one that reads it whole. */
  reads: {
    table: string;
    index: string | null;
    /** The index whose rows are read, also if all of them are. */ through: string | null;
    condition: string;
  }[];
  /** Rows that are sorted, as far as the planner knows. 0: they come in their order. */
  sorted: number;
  text: string;
}

/** The plans of all statements that a store function runs. */
export async function plansOf(storage: Storage, run: (db: Db) => Promise<unknown>): Promise<Plan[]> {
  const nodes: RootOperationNode[] = [];
  const recorder: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await run(storage.db.withPlugin(recorder));
  return Promise.all(nodes.map((node) => planOf(storage, node)));
}

async function planOf({ db, engine }: Storage, node: RootOperationNode): Promise<Plan> {
  const compiled = db.getExecutor().compileQuery(node, { queryId: 'plan' });
  const explained = (prefix: string) => CompiledQuery.raw(`${prefix} ${compiled.sql}`, [...compiled.parameters]);
  if (engine === 'sqlite')
    return sqlitePlan(compiled.sql, (await db.executeQuery<{ detail: string }>(explained('explain query plan'))).rows);
  // Tables of a test are small enough to be read whole; what matters is which index there is when they are not.
  const [row] = await db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    // As on a disk without heads, so that reading everything through some other index is no bargain either.
    await sql`set local random_page_cost = 1`.execute(tx);
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': { Plan: PostgresNode }[] }>(explained('explain (format json)'));
    return rows;
  });
  return postgresPlan(compiled.sql, row!['QUERY PLAN'][0]!.Plan);
}

function sqlitePlan(statement: string, rows: readonly { detail: string }[]): Plan {
  const reads = rows.flatMap(({ detail }) => {
    const match = /^(SCAN|SEARCH) (\S+)(?: USING (?:(?:COVERING )?INDEX (\S+)|PRIMARY KEY))?(?: \((.*)\))?/.exec(detail);
    if (!match) return [];
    const [, kind, table = '', through = null, condition = ''] = match;
    return [{ table, index: kind === 'SEARCH' ? (through ?? 'primary key') : null, through, condition }];
  });
  // SQLite does not say how many.
  const sorted = rows.some(({ detail }) => detail.startsWith('USE TEMP B-TREE')) ? Number.POSITIVE_INFINITY : 0;
  return { statement, reads, sorted, text: rows.map(({ detail }) => detail).join('\n') };
}

interface PostgresNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Plan Rows': number;
  Plans?: PostgresNode[];
}

function postgresPlan(statement: string, root: PostgresNode): Plan {
  const plan: Plan = { statement, reads: [], sorted: 0, text: '' };
  const visit = (node: PostgresNode, depth: number, parent = ''): void => {
    const { 'Node Type': type, 'Relation Name': table = parent, 'Index Name': index, 'Index Cond': condition = '' } = node;
    plan.text += `${' '.repeat(depth)}${type} ${table} ${index ?? ''} ${condition} rows=${node['Plan Rows']}\n`;
    if (type === 'Sort' || type === 'Incremental Sort') plan.sorted += node.Plans?.[0]?.['Plan Rows'] ?? 0;
    if (index !== undefined) plan.reads.push({ table, index, through: index, condition });
    else if (type === 'Seq Scan') plan.reads.push({ table, index: null, through: null, condition: '' });
    for (const inner of node.Plans ?? []) visit(inner, depth + 1, table);
  };
  visit(root, 0);
  return plan;
}

/** What PostgreSQL knows of its tables by itself after a while; SQLite's plans go by the indexes alone, as in the product. */
export async function learnSizes({ db, engine }: Storage): Promise<void> {
  if (engine === 'postgres') await sql`analyze`.execute(db);
}

/** What PostgreSQL does to tables that grew by many rows within a minute (autovacuum), and what it learns of them then. */
export async function settle({ db, engine }: Storage): Promise<void> {
  if (engine === 'postgres') await sql`vacuum analyze`.execute(db);
}
