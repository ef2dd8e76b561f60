import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { askForServer } from '../harness/databases.ts';
import { PostgresShelf } from '../harness/postgres-shelf.ts';

/** Databases that tests give back: the next test must not notice that there was one before. */
describe.skipIf(inject('postgresPort') === 0)('a database that a test has given back', () => {
  let folder: string;
  let shelf: PostgresShelf;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-shelf-'));
    shelf = new PostgresShelf(folder, await askForServer(inject('postgresPort')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function ask<T extends object>(url: string, ...statements: string[]): Promise<T[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      let rows: T[] = [];
      for (const statement of statements) ({ rows } = await client.query<T>(statement));
      return rows;
    } finally {
      await client.end();
    }
  }

  test('is empty for the next one, with its migrations, and counts from the beginning', async () => {
    const first = await shelf.take();
    await ask(
      first.url,
      `insert into teams (id, name, created_at) values ('a team', 'a', 0)`,
      `insert into sites (id, team_id, name, created_at) values ('a site', 'a team', 'a', 0)`,
      'select nextval(seqrelid::regclass) from pg_sequence',
    );
    await first.remove();
    const second = await shelf.take();
    expect(second.url).toBe(first.url);
    const [left] = await ask<Record<'rows' | 'next' | 'migrations', string>>(
      second.url,
      `select (select count(*) from teams) + (select count(*) from sites) as rows, (select count(*) from schema_migrations) as migrations,
        nextval(seqrelid::regclass) as next from pg_sequence limit 1`,
    );
    expect(left).toMatchObject({ rows: '0', next: '1' });
    expect(Number(left!.migrations)).toBeGreaterThan(60);
    await second.remove();
  });

  test.each([
    ['has another table', 'create table another (n int)'],
    ['lost an index', 'drop index teams_by_name'],
    ['has another constraint', 'alter table teams add constraint long check (length(name) > 3)'],
    ['knows of another migration', `insert into schema_migrations (number, name) values (9999, 'newer')`],
    ['has another default', `do $$ begin execute 'alter database ' || current_database() || ' set work_mem = 64'; end $$`],
    ['has statistics of what was in it', `insert into teams (id, name, created_at) values ('1', 'one', 0); analyze teams`],
    ['grew', 'insert into teams (id, name, created_at) select n, lpad(n::text, 1000), 0 from generate_series(1, 10000) n'],
  ])('is not used again when it %s', async (_change, statement) => {
    const first = await shelf.take();
    await ask(first.url, statement);
    await first.remove();
    expect((await shelf.take()).url).not.toBe(first.url);
  });

  test('is not used again while somebody is still connected to it', async () => {
    const first = await shelf.take();
    const other = new Client({ connectionString: first.url });
    await other.connect();
    await first.remove();
    expect((await shelf.take()).url).not.toBe(first.url);
    await other.end();
  });

  test('goes to one of those who ask at the same time', async () => {
    const made = [await shelf.take(), await shelf.take()];
    for (const { remove } of made) await remove();
    const taken = await Promise.all([1, 2, 3].map(() => shelf.take()));
    expect(new Set(taken.map(({ url }) => url)).size).toBe(3);
    expect(taken.filter(({ url }) => made.some((one) => one.url === url))).toHaveLength(2);
  });
});
