import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { Client } from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { DbOrTx, Storage } from '../../server/platform/storage/db.ts';
import { migrate, programSchema } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { openSqlite } from '../../server/platform/storage/sqlite.ts';
import { isUnique } from '../../server/platform/storage/storage-errors.ts';
import { databaseKinds, describeEachDatabase } from '../harness/databases.ts';
import { seedRouter, type SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

function insertTeam(db: DbOrTx, name: string, id = newId(1000)): Promise<unknown> {
  return db.insertInto('teams').values({ id, name, created_at: 1000 }).execute();
}

async function insertForward(db: DbOrTx, { teamId, routerId }: Pick<SeededRouter, 'teamId' | 'routerId'>, port: number): Promise<string> {
  const id = newId(1000);
  await db
    .insertInto('forwards')
    .values({
      id,
      team_id: teamId,
      router_id: routerId,
      port,
      allow_only_cidr: '192.0.2.1/32',
      dst_address: '10.0.0.2',
      dst_port: 22,
      entry_point: 'localhost',
      channel_token_hash: '',
      way: null,
      way_reason: null,
      target_reachable: null,
      created_by: 'test',
      created_at: 1000,
      authorized_at: null,
      expires_at: 2000,
      closed_at: null,
      revoked_at: null,
      refused_attempts: 0,
    })
    .execute();
  return id;
}

async function teamNames({ db }: Storage): Promise<string[]> {
  const rows = await db.selectFrom('teams').select('name').orderBy('name').execute();
  return rows.map((row) => row.name);
}

describeEachDatabase('storage', (open) => {
  test('migrating twice does nothing the second time', async () => {
    const storage = await open();
    expect(await migrate(storage)).toEqual([]);
  });

  test('programs that start at once migrate one after the other', async () => {
    const storage = await open();
    const later = { number: programSchema() + 1, name: 'later', statements: () => ['create table later (id integer)'] };
    const known = [later];
    const taken = await Promise.all([migrate(storage, known), migrate(storage, known), migrate(storage, known)]);
    expect(taken.flat()).toEqual([later.number]);
  });

  test('a migration that fails leaves nothing behind', async () => {
    const storage = await open();
    const broken = { number: 99, name: 'broken', statements: () => ['create table half (id integer)', 'no such statement'] };
    await expect(migrate(storage, [broken])).rejects.toThrow();
    await expect(sql`select * from half`.execute(storage.db)).rejects.toThrow();
    expect(await migrate(storage)).toEqual([]);
  });

  test('a database of a newer program is refused', async () => {
    const storage = await open();
    await sql`insert into schema_migrations (number, name) values (4711, 'future')`.execute(storage.db);
    await expect(migrate(storage)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('4711') as string });
  });

  test('numbers come back as numbers: moments, counts and sums', async () => {
    const storage = await open();
    await insertTeam(storage.db, 'one');
    const row = await storage.db
      .selectFrom('teams')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('created_at').as('sum'), eb.fn.max('created_at').as('max')])
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ count: 1, sum: 1000, max: 1000 });
  });

  test('text is ordered by its bytes', async () => {
    const storage = await open();
    for (const name of ['b', 'a', 'B', 'ä', '_']) await insertTeam(storage.db, name);
    expect(await teamNames(storage)).toEqual(['B', '_', 'a', 'b', 'ä']);
  });

  test('text that one engine could not keep is refused on both', async () => {
    const storage = await open();
    for (const name of ['a\0b', 'half \ud83d']) {
      await expect(insertTeam(storage.db, name)).rejects.toMatchObject({ code: 'invalid' });
    }
    await insertTeam(storage.db, 'whole 🚂');
    expect(await teamNames(storage)).toEqual(['whole 🚂']);
  });

  test('isUnique tells a taken primary key or unique value from other errors', async () => {
    const storage = await open();
    const id = newId(1);
    await insertTeam(storage.db, 'taken', id);
    const failures = await Promise.allSettled([
      insertTeam(storage.db, 'other', id),
      insertTeam(storage.db, 'taken'),
      sql`select * from nowhere`.execute(storage.db),
      storage.db
        .insertInto('sites')
        .values({ id, team_id: 'none', name: 's', time_zone: null, latitude: null, longitude: null, created_at: 1 })
        .execute(),
    ]);
    expect(failures.map((it) => it.status === 'rejected' && isUnique(it.reason))).toEqual([true, true, false, false]);
  });

  test('an open forward holds its port, a closed one frees it', async () => {
    const storage = await open();
    const router = await seedRouter(storage);
    const first = await insertForward(storage.db, router, 20_000);
    await expect(insertForward(storage.db, router, 20_000)).rejects.toSatisfy(isUnique);
    await storage.db.updateTable('forwards').set({ closed_at: 5 }).where('id', '=', first).execute();
    await insertForward(storage.db, router, 20_000);
  });

  test('a record of a team that does not exist is refused', async () => {
    const storage = await open();
    const { routerId } = await seedRouter(storage);
    await expect(insertForward(storage.db, { teamId: newId(1), routerId }, 20_000)).rejects.toThrow();
  });
});

describeEachDatabase('writes', (open) => {
  test('a write answers with what its closure returned, after the commit', async () => {
    const storage = await open();
    const answer = await storage.writes.write(async (tx) => {
      await insertTeam(tx, 'one');
      return 'done';
    });
    expect(answer).toBe('done');
    expect(await teamNames(storage)).toEqual(['one']);
  });

  test('a failing write rejects and undoes only itself', async () => {
    const storage = await open();
    const results = await Promise.allSettled([
      storage.writes.write((tx) => insertTeam(tx, 'first')),
      storage.writes.write(async (tx) => {
        await insertTeam(tx, 'half of a pair');
        await insertTeam(tx, 'first');
      }),
      storage.writes.write(async (tx) => {
        await insertTeam(tx, 'undone');
        throw new AppError('conflict', 'changed my mind');
      }),
      storage.writes.write((tx) => insertTeam(tx, 'last')),
    ]);
    // Which of the two "first" wins is open on PostgreSQL, where the writes run side by side.
    expect(results.map((it) => it.status).filter((it) => it === 'fulfilled').length).toBeGreaterThanOrEqual(2);
    expect(results[2]).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
    expect(await teamNames(storage)).toEqual(expect.arrayContaining(['first', 'last']));
    expect(await teamNames(storage)).not.toContain('undone');
  });

  test('many writes at once are all kept', async () => {
    const storage = await open();
    // More than one group commit holds. On a busy machine 1,200 waited longer than the five seconds that a write waits for a connection.
    const names = Array.from({ length: 600 }, (_, index) => `team ${String(index).padStart(4, '0')}`);
    await Promise.all(names.map((name) => storage.writes.write((tx) => insertTeam(tx, name))));
    expect(await teamNames(storage)).toEqual(names);
  });

  test('reads and statements of others neither wait forever nor join an open write', async () => {
    const storage = await open();
    const writes = Array.from({ length: 20 }, (_, index) =>
      storage.writes.write(async (tx) => {
        await insertTeam(tx, `undone ${index}`);
        throw new AppError('conflict', 'undone');
      }),
    );
    const others = Array.from({ length: 20 }, (_, index) => insertTeam(storage.db, `kept ${index}`));
    const seen = Array.from({ length: 20 }, () => teamNames(storage));
    const refused = await Promise.allSettled(writes);
    await Promise.all(others);
    expect(refused.every((it) => it.status === 'rejected')).toBe(true);
    // No read saw a row that was undone later, and no undone write took another's row with it.
    expect((await Promise.all(seen)).flat().filter((name) => name.startsWith('undone'))).toEqual([]);
    expect(await teamNames(storage)).toHaveLength(20);
  });

  test('using the database instead of the transaction inside a write is refused, not a deadlock', async () => {
    const storage = await open();
    await expect(storage.writes.write(() => teamNames(storage))).rejects.toMatchObject({ code: 'internal' });
    const nested = storage.writes.write(() => storage.writes.write((tx) => insertTeam(tx, 'nested')));
    await expect(nested).rejects.toMatchObject({ code: 'internal' });
    await storage.writes.write((tx) => insertTeam(tx, 'next'));
    expect(await teamNames(storage)).toEqual(['next']);
  });

  test('closing answers the writes that were handed in and refuses later ones', async () => {
    const storage = await open();
    const pending = ['one', 'two', 'three'].map((name) => storage.writes.write((tx) => insertTeam(tx, name)));
    const closing = storage.close();
    await expect(storage.writes.write((tx) => insertTeam(tx, 'late'))).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all([...pending, closing]);
  });
});

describe('SQLite', () => {
  test('a full disk refuses every write of that commit, and the queue works again afterwards', async () => {
    const storage = await openStorage('sqlite::memory:', { log: silentLog });
    await migrate(storage);
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(storage.db);
    await sql.raw(`pragma max_page_count = ${rows[0]!.page_count + 2}`).execute(storage.db);
    const results = await Promise.allSettled(['x', 'y'].map((name) => storage.writes.write((tx) => insertTeam(tx, name.repeat(50_000)))));
    expect(results.map((it) => it.status === 'rejected' && (it.reason as AppError).code)).toEqual(['unavailable', 'unavailable']);
    await storage.writes.write((tx) => insertTeam(tx, 'small'));
    expect(await teamNames(storage)).toEqual(['small']);
    await storage.close();
  });

  test('a write that waits for something else is undone with its batch; what it does later changes nothing', async () => {
    const storage = openSqlite(':memory:', { busyMs: 100, batchMs: 50, lockMs: 1000 });
    await migrate(storage);
    const never = Promise.withResolvers<void>();
    const later: Promise<unknown>[] = [];
    const stuck = storage.writes.write(async (tx) => {
      await insertTeam(tx, 'stuck');
      await never.promise;
      later.push(insertTeam(tx, 'too late'));
    });
    const neighbour = storage.writes.write((tx) => insertTeam(tx, 'neighbour'));
    await expect(stuck).rejects.toMatchObject({ code: 'unavailable' });
    await expect(neighbour).rejects.toMatchObject({ code: 'unavailable' });
    const next = storage.writes.write(async (tx) => {
      never.resolve();
      await insertTeam(tx, 'next');
    });
    await next;
    await expect(later[0]).rejects.toThrow();
    expect(await teamNames(storage)).toEqual(['next']);
    await storage.close();
  });

  test('other work gets its turn between many writes that take long together', async () => {
    const storage = openSqlite(':memory:');
    await migrate(storage);
    let turns = 0;
    let isOver = false;
    const countTurns = (): void => {
      turns += 1;
      if (!isOver) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const turnsOfWrites: number[] = [];
    const names = Array.from({ length: 40 }, (_, index) => `team ${index + 10}`);
    await Promise.all(
      names.map((name) =>
        storage.writes.write(async (tx) => {
          turnsOfWrites.push(turns);
          const until = performance.now() + 5;
          while (performance.now() < until);
          await insertTeam(tx, name);
        }),
      ),
    );
    isOver = true;
    // 200 ms of work, of which a transaction takes 20.
    const perTurn = [...Map.groupBy(turnsOfWrites, (turn) => turn).values()].map((writes) => writes.length);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
    expect(await teamNames(storage)).toEqual(names);
    await storage.close();
  });

  test('the outer database used inside a transaction is refused after a while and does not wait forever', async () => {
    const storage = openSqlite(':memory:', { busyMs: 100, batchMs: 50, lockMs: 20 });
    await migrate(storage);
    await expect(storage.db.transaction().execute(() => teamNames(storage))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await teamNames(storage)).toEqual([]);
    await storage.close();
  });

  test('another process that holds the write lock is waited for, then the write is refused; reading continues', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-db-'));
    const file = path.join(folder, 'data', 'box.db');
    const storage = openSqlite(file, { busyMs: 20, batchMs: 1000, lockMs: 1000 });
    await migrate(storage);
    const other = new Database(file);
    other.exec('begin immediate');
    await expect(storage.writes.write((tx) => insertTeam(tx, 'blocked'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await teamNames(storage)).toEqual([]);
    other.exec('rollback');
    await storage.writes.write((tx) => insertTeam(tx, 'free'));
    other.close();
    await storage.close();
    await rm(folder, { recursive: true });
  });

  test('a read waits for no transaction, and sees what is committed', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-db-'));
    const storage = openSqlite(path.join(folder, 'box.db'), { busyMs: 100, batchMs: 5000, lockMs: 5000 });
    await migrate(storage);
    const [goOn, isWritten] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const written = storage.writes.write(async (tx) => {
      await insertTeam(tx, 'under way');
      isWritten.resolve();
      await goOn.promise;
    });
    await isWritten.promise;
    const raw = async (): Promise<unknown[]> =>
      (await sql`with names as (select name from teams) select name from names`.execute(storage.db)).rows;
    expect([await teamNames(storage), await raw()]).toEqual([[], []]);
    // What writes waits, whatever it is called.
    const direct = insertTeam(storage.db, 'direct');
    const inTurn = sql`with one (n) as (select 1) update teams set name = 'renamed' where name = 'direct'`.execute(storage.db);
    goOn.resolve();
    await Promise.all([written, direct, inTurn]);
    expect((await teamNames(storage)).toSorted()).toEqual(['renamed', 'under way']);
    expect(await raw()).toHaveLength(2);
    await storage.close();
    await rm(folder, { recursive: true });
  });

  test('a file is private, and durable at every commit', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-db-'));
    const file = path.join(folder, 'data', 'box.db');
    const storage = await openStorage(`sqlite:${file}`, { log: silentLog });
    await migrate(storage);
    for (const name of [file, `${file}-wal`]) expect((await stat(name)).mode & 0o777).toBe(0o600);
    const pragma = async (name: string): Promise<unknown> =>
      Object.values((await sql.raw<object>(`pragma ${name}`).execute(storage.db)).rows[0]!)[0];
    // 2 is FULL.
    expect([await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')]).toEqual(['wal', 2, 1]);
    await storage.close();
    await rm(folder, { recursive: true });
  });

  test('an address of another kind is refused without showing it', async () => {
    await expect(openStorage('mysql://u:secret@h/db', { log: silentLog })).rejects.toSatisfy(
      (error: AppError) => error.code === 'invalid' && !error.message.includes('secret'),
    );
  });
});

describe('PostgreSQL', () => {
  test('a server that is not there is unavailable, for reads and writes', async () => {
    // Port 1 is never listened on.
    const storage = await openStorage('postgres://u:secret@127.0.0.1:1/x?pool_max=2', { log: silentLog });
    const failure = { code: 'unavailable', message: expect.not.stringContaining('secret') as string };
    await expect(teamNames(storage)).rejects.toMatchObject(failure);
    await expect(storage.writes.write((tx) => insertTeam(tx, 'x'))).rejects.toMatchObject(failure);
    await expect(migrate(storage)).rejects.toMatchObject(failure);
    await storage.close();
  });

  // PgBouncer keeps the connections of its clients.
  const isPooled = process.env['TEST_PGBOUNCER'] === '1';
  test.skipIf(inject('postgresPort') === 0 || isPooled)('connections that the server ends are replaced', async () => {
    const database = await databaseKinds()[1]!.create();
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: unknown, message: string) => void warnings.push(message) };
    const storage = await openStorage(database.url, { log });
    await migrate(storage);
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await admin.end();
    await expect.poll(() => warnings).toEqual(['lost an idle database connection']);
    expect(await teamNames(storage)).toEqual([]);
    await storage.close();
    await database.remove();
  });
});
