import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { startServer } from '../../server/compose/start.ts';
import type { RunningServer } from '../../server/compose/start.ts';
import { checkConfig, settingsSchema } from '../../server/config.ts';
import { idFloor, newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { TABLE_NAMES } from '../../server/platform/storage/tables.ts';
import type { TableName } from '../../server/platform/storage/tables.ts';
import { databaseKinds, describeEachDatabase } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { ENDED_RECORDS, endedThread, storeRecords } from '../harness/ended-records.ts';
import type { Kind } from '../harness/ended-records.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** docs/retention.md says of each table what keeps it from growing without an end. */

interface Bound {
  table: string;
  /** Settings that say how long its rows are kept. */
  settings: string[];
  /** The table whose rows its own go with. */
  parents: string[];
  /** A number or a fixed time, in words. */
  words: string;
}

const page = readFileSync(new URL('../../docs/retention.md', import.meta.url), 'utf8');
const limits = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
const section = page.split(/^## /m).find((part) => part.startsWith('Every table\n')) ?? '';
const bounds: Bound[] = section
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => {
    const [tables = '', age = '', parent = '', words = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    const names = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    return names(tables).map((table) => ({ table, settings: names(age), parents: names(parent), words }));
  });

test('docs/retention.md says of every table once what bounds it', () => {
  expect(bounds.map(({ table }) => table).toSorted()).toEqual(TABLE_NAMES.toSorted());
});

test.each(bounds)('$table is bounded by a setting, its parent or a number', ({ settings, parents, words }) => {
  expect(settings.length + parents.length + words.length).toBeGreaterThan(0);
  for (const setting of settings) expect(Object.keys(settingsSchema.shape)).toContain(setting);
  for (const parent of parents) expect(TABLE_NAMES).toContain(parent);
  // A label of docs/limits.md.
  for (const [, label] of words.matchAll(/limit `(\w+)`/g)) expect(limits).toContain(`| \`${label}\``);
});

test('every setting of a retention time is in the list', () => {
  const ofTables = new Set(bounds.flatMap(({ settings }) => settings));
  const all = Object.keys(settingsSchema.shape).filter((name) => name.endsWith('_RETENTION_DAYS'));
  expect([...ofTables].toSorted()).toEqual(all.toSorted());
});

describeEachDatabase('rows of a parent', (open) => {
  test('go with it in the database, and the database finds them by an index', async () => {
    const storage = await open();
    const { db, engine } = storage;
    if (engine === 'postgres') {
      // Both databases have the same migrations; SQLite's catalogue says more in fewer words.
      const { rows } = await sql<{ child: string; parent: string }>`
        select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint where contype = 'f' and confdeltype = 'c'`.execute(
        db,
      );
      for (const { table, parents } of bounds) for (const parent of parents) expect(rows, table).toContainEqual({ child: table, parent });
      return;
    }
    const unindexed: string[] = [];
    for (const table of TABLE_NAMES) {
      const { rows: keys } = await sql<{ id: number; table: string; from: string; on_delete: string; seq: number }>`
        select * from pragma_foreign_key_list(${table})`.execute(db);
      const { parents = [] } = bounds.find((bound) => bound.table === table) ?? {};
      for (const parent of parents) expect(keys, table).toContainEqual(expect.objectContaining({ table: parent, on_delete: 'CASCADE' }));
      // What is never deleted is not looked for.
      for (const key of keys.filter((one) => !['teams', 'users', 'members'].includes(one.table)))
        if (!(await isIndexed(storage, table, key.from))) unindexed.push(`${table}.${key.from}`);
    }
    expect(unindexed).toEqual([]);
  });
});

/** Whether an index begins with the column, and holds every row that has a value there. */
async function isIndexed({ db }: Storage, table: string, column: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`select il.name as id from pragma_index_list(${table}) as il
    join pragma_index_info(il.name) as ii on ii.seqno = 0 and ii.name = ${column}
    left join sqlite_master as made on made.name = il.name
    where il.partial = 0 or made.sql like ${`%where ${column} is not null`}`.execute(db);
  return rows.length > 0;
}

const LONG_AGO = Date.UTC(2015, 0, 1);
const NOW = Date.UTC(2031, 0, 1);
const HOUR_MS = 3_600_000;

/** What has no team or is not an ended record of a router. */
const OTHERS: Kind[] = [
  { name: 'a run', rows: (_, at) => [['server_runs', { id: newId(at), started_at: at, alive_at: at, stopped_at: at }]] },
  { name: 'a bucket', rows: (_, at) => [['send_buckets', { key: `bucket ${at}`, tokens: 1, at }]] },
  {
    name: 'a silence',
    rows: ({ teamId }, at) => [
      ['silences', { id: newId(at), team_id: teamId, from_at: at, until_at: at, reason: 'works', created_at: at }],
    ],
  },
  {
    name: 'an alias without a device',
    rows: ({ teamId }, at) => [['device_aliases', { team_id: teamId, mac: `mac ${at}`, alias: 'x', updated_at: at }]],
  },
];

describe.each(databaseKinds())('a control plane that runs for some hours on $name', (kind) => {
  let database: TestDatabase | undefined;
  let folder: string;
  let server: RunningServer | undefined;
  afterEach(async () => {
    await server?.close();
    await database?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test('has deleted every old record, and none that is young', async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bounded-'));
    database = await kind.createMigrated();
    const storage = await openStorage(database.url, { log: silentLog });
    try {
      const { teamId, agentId, routerId } = await seedRouter(storage, { now: LONG_AGO });
      const place = { teamId, agents: [agentId], routers: [routerId] };
      const groupId = newId(LONG_AGO);
      const group = { id: groupId, team_id: teamId, name: 'g', created_at: LONG_AGO, updated_at: LONG_AGO };
      await storeRecords(storage, { name: 'a group', rows: () => [['notification_groups', group]] }, place, { at: LONG_AGO, count: 1 });
      const tables = new Map<TableName, number>();
      for (const one of [...ENDED_RECORDS, endedThread(groupId), ...OTHERS]) {
        await storeRecords(storage, one, place, { at: LONG_AGO, count: 3 });
        const young = await storeRecords(storage, one, place, { at: NOW - HOUR_MS, count: 2, first: 3 });
        for (const [table, count] of young) tables.set(table, count);
      }
      const aged = bounds.filter(({ settings }) => settings.length > 0).map(({ table }) => table);
      expect([...tables.keys()], 'the test has rows of every table with a setting').toEqual(expect.arrayContaining(aged));
      const clock = new ManualClock(NOW);
      server = await startServer(
        checkConfig({
          SIGNALBOX_LISTEN: '127.0.0.1:0',
          SIGNALBOX_SANDBOX_LISTEN: '',
          SIGNALBOX_DATABASE_URL: database.url,
          SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
        }),
        { log: silentLog, consoleFiles: null, agentRelease: null, clock },
      );
      for (const table of tables.keys()) {
        await waitUntil(`every old record of ${table} is deleted`, async () => {
          // Far from the shortest time that anything is kept.
          if (clock.now() < NOW + 20 * HOUR_MS) clock.advance(HOUR_MS / 2);
          return (await countOf(storage, table)).old === 0;
        });
      }
      for (const [table, count] of tables) expect((await countOf(storage, table)).young, table).toBeGreaterThanOrEqual(count);
      expect(await countOf(storage, 'routers')).toEqual({ old: 1, young: 0 });
      expect(await countOf(storage, 'agents')).toEqual({ old: 1, young: 0 });
    } finally {
      await server?.close();
      await storage.close();
    }
  });
});

/** When a row without an id of its own was made. */
const AGES: Partial<Record<TableName, string>> = {
  send_buckets: 'at',
  device_aliases: 'updated_at',
  device_sightings: 'last_seen_at',
  agent_link_steps: 'at',
  router_health_steps: 'at',
  backup_parts: 'stored_at',
  terminal_recordings: 'stored_at',
  campaign_targets: 'settled_at',
  thread_items: 'opened_at',
};

async function countOf({ db }: Storage, table: TableName): Promise<{ old: number; young: number }> {
  const column = AGES[table];
  const middle = Date.UTC(2020, 0, 1);
  const isOld = column === undefined ? sql`id < ${idFloor(middle)}` : sql`${sql.ref(column)} < ${middle}`;
  const { rows } = await sql<{ old: number | string; all: number | string }>`
    select count(*) as "all", coalesce(sum(case when ${isOld} then 1 else 0 end), 0) as old from ${sql.table(table)}`.execute(db);
  const old = Number(rows[0]!.old);
  return { old, young: Number(rows[0]!.all) - old };
}
