import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SignInAttempts } from '../../server/access/identity/sign-in/attempts.ts';
import type { Attempt } from '../../server/access/identity/sign-in/attempts.ts';
import { SharedAttempts } from '../../server/access/identity/sign-in/shared-attempts.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { databaseKinds } from '../harness/databases.ts';
import { silentLog } from '../harness/silent-log.ts';

const kind = databaseKinds().find(({ name }) => name !== 'SQLite')!;
const secrets = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);

describe('attempts to sign in that several control planes count in PostgreSQL', () => {
  let closers: (() => Promise<void>)[];
  let storage: Storage;
  let nodes: SignInAttempts[];
  let shared: SharedAttempts;

  beforeEach(async () => {
    const database = await kind.createMigrated();
    storage = await openStorage(database.url, { log: silentLog });
    closers = [() => database.remove(), () => storage.close()];
    await sql`create table test_clock (at bigint not null)`.execute(storage.db);
    await sql`insert into test_clock (at) values (0)`.execute(storage.db);
    const control = (): SharedAttempts => new SharedAttempts({ storage, secrets, databaseNow: sql<number>`(select at from test_clock)` });
    shared = control();
    nodes = [shared, control(), control()].map((one) => new SignInAttempts(one));
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const attemptOf = (account: string, source: string, more: Partial<Attempt> = {}): Attempt => ({
    account,
    passwordSince: 0,
    source,
    ...more,
  });
  /** So many at once, through all of them in turn. @returns how many were allowed */
  async function allowed(times: number, attemptOfTurn: (turn: number) => Attempt): Promise<number> {
    const waits = await Promise.all(Array.from({ length: times }, (_, turn) => nodes[turn % 3]!.begin(attemptOfTurn(turn))));
    return waits.filter((wait) => wait === undefined).length;
  }
  const advance = (ms: number) => sql`update test_clock set at = at + ${ms}::bigint`.execute(storage.db);

  test('an account takes ten wrong passwords from one network, then one in a minute and a half, wherever they come', async () => {
    expect(await allowed(30, () => attemptOf('ada', '192.0.2.1'))).toBe(10);
    expect(await nodes[1]!.begin(attemptOf('ada', '192.0.2.1'))).toBe(90);
    await advance(89_000);
    expect(await nodes[2]!.begin(attemptOf('ada', '192.0.2.1'))).toBe(1);
    await advance(1000);
    expect(await allowed(6, () => attemptOf('ada', '192.0.2.1'))).toBe(1);
    expect(await allowed(3, () => attemptOf('ada', '192.0.2.1', { passwordSince: 1000 }))).toBe(3);
  });

  test('many networks get thirty attempts for one account, and one network fifty for whomever', async () => {
    expect(await allowed(60, (turn) => attemptOf('ada', `192.0.2.${turn}`))).toBe(30);
    // Accounts in different orders: transactions that wait for each other would fail.
    expect(await allowed(90, (turn) => attemptOf(`user${turn % 2 === 0 ? turn : 90 - turn}`, '198.51.100.1'))).toBe(50);
    expect(await allowed(12, (turn) => attemptOf('ada', '198.51.100.1', { knownBrowser: turn % 2 === 0 ? 'laptop' : 'phone' }))).toBe(12);
  });

  test('a correct password does not count as a wrong one, and one that was not checked neither', async () => {
    expect(await allowed(9, () => attemptOf('ada', '192.0.2.1'))).toBe(9);
    for (let turn = 0; turn < 20; turn += 1) {
      const attempt = attemptOf('ada', '192.0.2.1');
      expect(await nodes[turn % 3]!.begin(attempt)).toBeUndefined();
      await nodes[(turn + 1) % 3]![turn % 2 === 0 ? 'succeed' : 'withdraw'](attempt);
    }
    expect(await allowed(5, () => attemptOf('ada', '192.0.2.1'))).toBe(1);
  });

  test('an account may sign in sixty times at once', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, turn) => nodes[turn % 3]!.succeed(attemptOf('ada', '192.0.2.1'))));
    expect(await nodes[0]!.begin(attemptOf('ada', '192.0.2.2'))).toBe(1);
    expect(await nodes[0]!.begin(attemptOf('bob', '192.0.2.2'))).toBeUndefined();
  });

  test('a clock of the database that is set back locks nobody out for longer than before', async () => {
    expect(await allowed(12, () => attemptOf('ada', '192.0.2.1'))).toBe(10);
    await advance(-2 * 3600_000);
    expect(await nodes[0]!.begin(attemptOf('ada', '192.0.2.1'))).toBe(90);
  });

  test('what is stored tells neither accounts nor networks, and empty counters are deleted', async () => {
    await allowed(3, () => attemptOf('ada', '192.0.2.1'));
    const rows = await sql<{ key: string }>`select key from sign_in_attempts`.execute(storage.db);
    expect(rows.rows.length).toBeGreaterThan(2);
    for (const { key } of rows.rows) expect(key).toMatch(/^[0-9a-f]{64}$/);
    await advance(3600_000);
    await shared.sweep();
    expect((await sql`select key from sign_in_attempts`.execute(storage.db)).rows).toEqual([]);
  });
});
