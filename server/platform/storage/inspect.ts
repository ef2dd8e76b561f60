import { sql } from 'kysely';
import { programSchema } from './migrate.ts';
import type { Storage } from './db.ts';

export interface Inspection {
  /** Schema of the database; 0 before the first start. */
  schema: number;
  /** Schema of this program. */
  programSchema: number;
  /** The latest time that a running server has stored, milliseconds; null when there is none. */
  newestMoment: number | null;
}

/** Inspects a database without changing it. @throws what the database throws when it is unavailable */
export async function inspectStorage({ db }: Storage): Promise<Inspection> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'schema_migrations')) return { schema: 0, programSchema: programSchema(), newestMoment: null };
  const { rows } = await sql<{ number: number }>`select coalesce(max(number), 0) as number from schema_migrations`.execute(db);
  const schema = rows[0]?.number ?? 0;
  return { schema, programSchema: programSchema(), newestMoment: schema === 0 ? null : await newestMomentOf(db) };
}

/** From presence, which is written every few seconds, and from the audit log. */
async function newestMomentOf(db: Storage['db']): Promise<number | null> {
  const seen = await db
    .selectFrom('router_presence')
    .select((eb) => eb.fn.max('last_seen_at').as('at'))
    .executeTakeFirst();
  const audited = await db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.max('at').as('at'))
    .executeTakeFirst();
  const moments = [seen?.at, audited?.at].filter((at) => at !== null && at !== undefined).map(Number);
  return moments.length === 0 ? null : Math.max(...moments);
}
