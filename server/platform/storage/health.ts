import { sql } from 'kysely';
import type { Storage } from './db.ts';

/** True when the database answers a query; otherwise rejects, at the latest after the database timeout. */
export async function answers({ db }: Pick<Storage, 'db'>): Promise<boolean> {
  await sql`select 1`.execute(db);
  return true;
}
