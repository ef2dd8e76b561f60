import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { SchedulesService } from '../../server/outbound/notifications/schedules/service.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { exportDatabase, importDatabase } from '../../server/platform/storage/portable.ts';
import { indexWaiting } from '../../server/platform/storage/search-waiting.ts';
import { LEFT_OUT, TABLE_NAMES } from '../../server/platform/storage/tables.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { Recordings } from '../../server/work/terminals/recording/recordings.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { databaseKinds, describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { RecordedLog } from '../harness/recorded-log.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

async function everything({ db }: Storage): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const table of TABLE_NAMES) tables[table] = (await sql`select * from ${sql.table(table)} order by 1, 2`.execute(db)).rows;
  return tables;
}

/** Two teams, with keys, agents and routers, and enough audit entries for several pages. */
async function fill(storage: Storage): Promise<string> {
  const north = await seedRouter(storage);
  await seedRouter(storage);
  const auth = new CredentialsService({ storage, clock: new ManualClock(), log: silentLog });
  const { apiKey } = await auth.createApiKey({ teamId: north.teamId, name: 'ключ "1"\n', createdBy: null });
  const siteId = newId(1);
  await storage.db
    .insertInto('sites')
    .values({ id: siteId, team_id: north.teamId, name: 'Depot', time_zone: null, latitude: -33.456789012345, longitude: 0, created_at: 1 })
    .execute();
  const entries = Array.from({ length: 450 }, (_, at) => ({
    id: newId(at),
    team_id: north.teamId,
    at,
    actor_kind: 'api_key',
    actor_id: 'a',
    source: '::1',
    action: 'POST /x',
    target: null,
    result: 200,
  }));
  await storage.db.insertInto('audit_log').values(entries).execute();
  await storage.db
    .insertInto('idempotency_keys')
    .values(
      [1, 2, 3].map((key) => ({
        team_id: north.teamId,
        scope: 's',
        key: String(key),
        fingerprint: 'f',
        created_at: 2 ** 52,
        status: null,
        response: '{}',
      })),
    )
    .execute();
  await fillGroups(storage, north.teamId, siteId);
  await fillTerminals(storage, north);
  return apiKey;
}

const SECRETS = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);
const PRINTED = ['{"version":2,"width":80,"height":24}\n', '[0.5,"o","[ada@gw-depot] > grüße\\r\\n"]\n'];

/** A terminal that has ended, with a recording of two parts. */
async function fillTerminals(storage: Storage, { teamId, routerId, agentId }: SeededRouter): Promise<void> {
  const id = newId(1);
  await storage.db
    .insertInto('terminals')
    .values({
      id,
      team_id: teamId,
      router_id: routerId,
      agent_id: agentId,
      level: 'full',
      reason: 'ticket 4711: "Grüße"\n',
      opened_by: 'k',
      opened_by_kind: 'api_key',
      opened_via: null,
      signed_in_at: null,
      source: '203.0.113.7',
      created_at: 1,
      opened_at: 2,
      ended_at: 3,
      end_reason: 'exited',
      end_message: 'the shell has ended',
      ended_by: null,
      cols: 80,
      rows: 24,
      recording_deleted_at: null,
    })
    .execute();
  const recordings = recordingsOf(storage);
  let chars = 0;
  for (const [number, text] of PRINTED.entries()) {
    chars += text.length;
    await recordings.store({ teamId, id }, { number, text, chars, outputBytes: chars, inputBytes: 1 });
  }
}

function recordingsOf(storage: Storage): Recordings {
  return new Recordings({ storage, secrets: SECRETS, clock: new ManualClock(), keepRecordingsMs: 1 });
}

/** A notification group with one link of every kind. */
async function fillGroups(storage: Storage, teamId: string, siteId: string): Promise<void> {
  const clock = new ManualClock();
  const { member } = await new TeamsService({ storage, clock }).createUser({ teamId, email: 'ada@example.org', role: 'admin' });
  const topic = await new TopicsService({ storage, clock }).create(teamId, { name: 'Outages', events: ['fault.*'] });
  const windows = [{ day: 'monday' as const, from: 0, to: 60 }];
  const schedule = await new SchedulesService({ storage, clock }).create(teamId, { name: 'Office', timeZone: 'UTC', windows });
  const groups = new GroupsService({ storage, clock });
  const next = await groups.create(teamId, { name: 'Next' });
  await fillTarget(storage, teamId);
  await fillContact(storage, teamId, member.userId);
  await groups.create(teamId, {
    name: 'On call',
    targets: [TARGET],
    escalateAfterMinutes: 15,
    escalateTo: next.id,
    scheduleId: schedule.id,
    recipients: [member.userId],
    notifiables: [{ id: member.userId, channel: 'email' }],
    topics: [topic.id],
    sites: [siteId],
  });
}

const TARGET = newId(1);

/** An address of a person, and what they do not want to get. */
async function fillContact({ db }: Storage, teamId: string, userId: string): Promise<void> {
  const address = await SECRETS.encrypt('contact c', '{"channel":"sms","to":"+34600123456"}');
  const states = { verified_at: 1, off_reason: 'switched_off', off_at: 2, created_at: 1, updated_at: 2 };
  await db
    .insertInto('contacts')
    .values({ id: newId(1), user_id: userId, channel: 'sms', address, address_key: 'k', shown: 's', ...states })
    .execute();
  await db
    .insertInto('telegram_links')
    .values({
      id: newId(1),
      team_id: teamId,
      user_id: userId,
      token_hash: 'h',
      created_at: 1,
      expires_at: 2,
      proved_at: 1,
      contact_id: 'c',
    })
    .execute();
  const claim = { claim: 'c', claimed_until: 2, due_at: 1, failures: 1, problem: 'bot_busy' };
  await db
    .insertInto('telegram_readers')
    .values({ id: 'telegram', bot_id: '1', next_update: 7, moved_at: 1, read_at: 1, ...claim })
    .execute();
  await db
    .insertInto('notification_optouts')
    .values({ id: newId(1), team_id: teamId, user_id: userId, scope: 'all', scope_id: '', at: 1 })
    .execute();
}

/** A proved target, and the code that proved it. */
async function fillTarget({ db }: Storage, teamId: string): Promise<void> {
  const address = await SECRETS.encrypt(`notification target ${TARGET}`, '{"channel":"slack","url":"https://hooks.slack.com/x"}');
  const times = { verified_at: 2, off_reason: null, off_at: null, created_at: 1, updated_at: 2 };
  await db
    .insertInto('notification_targets')
    .values({ id: TARGET, team_id: teamId, name: 'Chat', channel: 'slack', address, address_key: 'k', shown: 's', ...times })
    .execute();
  await db
    .insertInto('address_proofs')
    .values({
      id: newId(1),
      team_id: teamId,
      user_id: null,
      owner_id: TARGET,
      address_key: 'k',
      code_hash: 'h',
      tries: 1,
      sent_at: 1,
      expires_at: 0,
    })
    .execute();
}

describeEachDatabase('export and import', (open) => {
  let folder: string;
  let file: string;
  let source: Storage;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-export-'));
    file = path.join(folder, 'all.jsonl');
    source = await open();
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('every table of the database is part of an export', async () => {
    const query =
      source.engine === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`;
    const { rows } = await query.execute(source.db);
    const leftOut = new Set<string>(LEFT_OUT);
    expect(
      rows
        .map((row) => row.name)
        // The search index is made from the other tables.
        .filter((name) => name !== 'schema_migrations' && !leftOut.has(name) && !name.startsWith('search_'))
        .sort(),
    ).toEqual([...TABLE_NAMES].sort());
  });

  test.each(databaseKinds())(
    'an export goes into $name unchanged, its keys work there, and recordings of terminals can be read',
    async (kind) => {
      const apiKey = await fill(source);
      const rows = await exportDatabase(source, file, new Date(0));
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const database = await kind.create();
      const target = await openStorage(database.url, { log: silentLog });
      await migrate(target);
      expect(await importDatabase(target, file, silentLog)).toBe(rows);
      expect(await everything(target)).toEqual(await everything(source));
      expect((await sql`select 1 from search_documents`.execute(target.db)).rows.length).toBeGreaterThan(0);
      if (target.engine === 'sqlite') expect((await sql`select 1 from search_waiting`.execute(target.db)).rows).toEqual([]);
      const auth = new CredentialsService({ storage: target, clock: new ManualClock(), log: silentLog });
      expect(await auth.authenticateApiKey(apiKey)).toBeDefined();
      await auth.stop();
      const { id, team_id: teamId } = await target.db.selectFrom('terminals').select(['id', 'team_id']).executeTakeFirstOrThrow();
      const parts: string[] = [];
      for await (const part of await recordingsOf(target).read({ teamId, id })) parts.push(part);
      expect(parts).toEqual(PRINTED);
      await target.close();
      await database.remove();
    },
  );

  test('an import whose search index cannot be written is done, says so, and leaves the rest to the indexer', async () => {
    await fill(source);
    const rows = await exportDatabase(source, file, new Date(0));
    const target = await open();
    const log = new RecordedLog();
    const writing = vi.spyOn(target.writes, 'write').mockRejectedValue(new AppError('unavailable', 'the disk is full'));
    expect(await importDatabase(target, file, log)).toBe(rows);
    expect(await everything(target)).toEqual(await everything(source));
    // PostgreSQL keeps its index by itself.
    expect(log.take().map(({ level }) => level)).toEqual(target.engine === 'sqlite' ? ['warn'] : []);
    writing.mockRestore();
    await indexWaiting(target);
    if (target.engine === 'sqlite') expect((await sql`select 1 from search_waiting`.execute(target.db)).rows).toEqual([]);
  });

  test('an export does not replace a file', async () => {
    await writeFile(file, 'precious');
    await expect(exportDatabase(source, file, new Date(0))).rejects.toMatchObject({ code: 'conflict' });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('a database that holds anything refuses an import', async () => {
    await fill(source);
    await exportDatabase(source, file, new Date(0));
    await expect(importDatabase(source, file, silentLog)).rejects.toMatchObject({ code: 'conflict' });
  });

  test.each([
    ['cut short', (text: string) => text.split('\n').slice(0, -2).join('\n'), 'invalid'],
    ['cut in a line', (text: string) => text.slice(0, -30), 'invalid'],
    ['without a row', (text: string) => text.split('\n').toSpliced(2, 1).join('\n'), 'invalid'],
    ['with a strange table', (text: string) => text.replace('"table":"teams"', '"table":"schema_migrations"'), 'invalid'],
    ['with something after its end', (text: string) => `${text}{}\n`, 'invalid'],
    ['of another schema', (text: string) => text.replace(/"schema":[0-9]+/, '"schema":999'), 'conflict'],
    ['that is none', () => 'hello', 'invalid'],
    ['that is empty', () => '', 'invalid'],
  ])('a file %s is refused, and nothing of it stays', async (_what, change, code) => {
    await fill(source);
    const whole = path.join(folder, 'whole.jsonl');
    await exportDatabase(source, whole, new Date(0));
    await appendFile(file, change(await readFile(whole, 'utf8')));
    const target = await open();
    await expect(importDatabase(target, file, silentLog)).rejects.toMatchObject({ code });
    expect(Object.values(await everything(target)).flat()).toEqual([]);
  });

  test('a file that is missing is said so', async () => {
    await expect(importDatabase(source, path.join(folder, 'none'), silentLog)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
