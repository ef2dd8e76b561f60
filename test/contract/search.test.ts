import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { search } from '../../server/fleet/search/feature.ts';
import { SearchService } from '../../server/fleet/search/service.ts';
import { searchDevices } from '../../server/fleet/devices/list/store.ts';
import { searchRoute } from '../../server/fleet/search/routes.ts';
import { selectHits } from '../../server/fleet/search/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { indexWaiting } from '../../server/platform/storage/search-waiting.ts';
import { gramsOf, lowerAscii, placeOf, scopeOf, SEARCH_KINDS, wordsOf } from '../../server/platform/storage/search-text.ts';
import type { SearchKind } from '../../server/platform/storage/search-text.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedJobs } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START = 1_700_000_000_000;

const HOSTILE = [
  '"',
  '""',
  'a"b',
  '" OR scope : "',
  'content : x',
  'gw-1" OR "gw-3',
  'gw*',
  'gw-%',
  'gw_1',
  '^gw',
  'NEAR(gw 1)',
  'gw-1 AND gw-3',
  '{gw-1}',
  '\\',
  "'; drop table routers; --",
  '%%%',
  '🚀🚀',
  '(((',
  '- -',
];

test('a text of the index has parts of three characters, not of code units', () => {
  expect(gramsOf('ab')).toEqual([]);
  expect(gramsOf('abcabc')).toEqual(['abc', 'bca', 'cab', 'abc']);
  expect(gramsOf('🚀bcd')).toEqual(['🚀bc', 'bcd']);
});

test('the words of the index are its parts, in hexadecimal digits of UTF-8', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 });
  fc.assert(
    fc.property(text, (any) => {
      const words = gramsOf(any).map((gram) => `s${Array.from(gram, (one) => Buffer.from(one).toString('hex')).join('')}`);
      expect(wordsOf('s', any)).toBe(words.join(' '));
    }),
  );
  expect(wordsOf('s', 'aÖ🚀b')).toBe('s61c396f09f9a80 sc396f09f9a8062');
});

describeEachDatabase('search', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let mine: ManyRouters;
  let other: ManyRouters;

  beforeEach(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, 12, START);
    other = await seedManyRouters(storage, 12, START);
    const states = { of: () => ({ state: 'answering' as const, since: START, reason: null }) };
    app = new TeamApp((scope) => searchRoute(scope, { search: new SearchService({ storage, states }) }));
  });

  type Match = Record<'kind' | 'id' | 'name' | 'match' | 'detail' | 'path' | 'state', string>;

  const find = async (text: string, teamId = mine.teamId): Promise<Match[]> => {
    const { status, body } = await app.get(teamId, `/api/search?q=${encodeURIComponent(text)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body['data'] as Match[];
  };

  const addDevice = async (team: ManyRouters, mac: string, fields: { hostname?: string; ip?: string; siteId?: string | null } = {}) => {
    const { hostname = null, ip = null, siteId = null } = fields;
    const id = newId(START);
    const place = siteId ?? team.routers[0]!;
    await storage.db
      .insertInto('devices')
      .values({ id, team_id: team.teamId, place, site_id: siteId, mac, hostname, manufacturer: 'Routerboard.com', first_seen_at: START })
      .execute();
    await storage.db
      .insertInto('device_sightings')
      .values({
        device_id: id,
        router_id: team.routers[0]!,
        ip_address: ip,
        interface: null,
        ip_first_seen_at: START,
        last_seen_at: START,
        present: 1,
      })
      .execute();
    return id;
  };

  describe('finds', () => {
    test('what the text is before what begins with it, and that before what it is a part of', async () => {
      const [whole, beginning, part] = mine.routers as [string, string, string];
      const rename = (id: string, identity: string) => storage.db.updateTable('routers').set({ identity }).where('id', '=', id).execute();
      await rename(part, 'old-core-1');
      await rename(beginning, 'Core-1-backup');
      await rename(whole, 'core-1');
      const found = await find('CORE-1');
      expect(found.map(({ id, match }) => [id, match])).toEqual([
        [whole, 'exact'],
        [beginning, 'beginning'],
        [part, 'part'],
      ]);
      expect(found[0]).toMatchObject({ kind: 'router', name: 'core-1', state: 'answering', path: `/api/routers/${whole}` });
    });

    test('a router by its serial number, an agent and a site by their names, each by its id', async () => {
      expect(await find('HW7')).toMatchObject([{ kind: 'router', id: mine.routers[7], match: 'exact' }]);
      const agent = mine.agents[0]!;
      expect(await find('AGENT-0')).toMatchObject([{ kind: 'agent', id: agent, match: 'exact', path: `/api/agents/${agent}` }]);
      expect(await find('site 0')).toMatchObject([{ kind: 'site', id: mine.sites[0], match: 'exact' }]);
      for (const [kind, id] of [
        ['router', mine.routers[3]!],
        ['agent', agent],
        ['site', mine.sites[0]!],
      ] as const)
        expect(await find(id.toUpperCase())).toMatchObject([{ kind, id, match: 'exact' }]);
    });

    test.each(['4C:5E:0C:AA:BB:01', '4c-5e-0c-aa-bb-01', '4c5e.0caa.bb01', '4c5e0caabb01'])(
      'a device by its MAC address as %s',
      async (mac) => {
        await addDevice(mine, '4C:5E:0C:AA:BB:01', { hostname: 'till-3' });
        await addDevice(other, '4C:5E:0C:AA:BB:01');
        expect(await find(mac)).toMatchObject([{ kind: 'device', id: '4C:5E:0C:AA:BB:01', name: 'till-3', match: 'exact' }]);
      },
    );

    test('a device that is known at several sites once', async () => {
      await addDevice(mine, '4C:5E:0C:AA:BB:01', { siteId: mine.sites[0]! });
      await addDevice(mine, '4C:5E:0C:AA:BB:01');
      expect(await find('4c:5e:0c')).toHaveLength(1);
    });

    test('a job by its id and by the beginning of its description, the newest first', async () => {
      const jobs = await seedJobs(storage, mine, 30, START);
      await seedJobs(storage, other, 30, START);
      expect(await find(jobs[4]!)).toMatchObject([{ kind: 'job', id: jobs[4], match: 'exact', name: 'job 4' }]);
      expect(await find('JOB 2')).toMatchObject([
        { id: jobs[2], match: 'exact', path: `/api/routers/${mine.routers[2]}/jobs/${jobs[2]}` },
        ...Array.from({ length: 10 }, (_, index) => ({ id: jobs[20 + index], match: 'beginning' })),
      ]);
    });

    test('at most 20, and of each kind something', async () => {
      for (let index = 0; index < 40; index += 1)
        await addDevice(mine, `00:1B:C5:00:00:${String(index + 10)}`, { hostname: `gw-${index}`, ip: `10.0.0.${index}` });
      const found = await find('gw-');
      expect(found).toHaveLength(20);
      expect(new Set(found.map(({ id }) => id)).size).toBe(20);
      const kinds = Map.groupBy(found, ({ kind }) => kind);
      expect(kinds.get('router')).toHaveLength(10);
      expect(kinds.get('device')).toHaveLength(10);
    });

    test('with one or two characters what begins with them', async () => {
      await addDevice(mine, '00:1B:C5:00:00:01', { hostname: 'xy', ip: '10.1.2.3' });
      await addDevice(mine, '00:1B:C5:00:00:02', { hostname: 'a-xy' });
      expect((await find('XY')).map(({ id, match }) => [id, match])).toEqual([['00:1B:C5:00:00:01', 'exact']]);
      expect((await find('x')).map(({ id, match }) => [id, match])).toEqual([['00:1B:C5:00:00:01', 'beginning']]);
    });
  });

  test("nothing of another team, whose records' ids and names are exactly the same text", async () => {
    await addDevice(other, '4C:5E:0C:AA:BB:01', { hostname: 'secret-host', ip: '10.9.9.9' });
    const jobs = await seedJobs(storage, other, 3, START);
    for (const text of [
      'secret-host',
      'secret',
      'cret-h',
      '10.9.9',
      '4c5e',
      other.routers[0]!,
      other.agents[0]!,
      other.sites[0]!,
      jobs[0]!,
      'job 1',
    ])
      expect(await find(text), text).toEqual([]);
    expect(await find('secret-host', other.teamId)).toHaveLength(1);
  });

  test('nothing of a team whose id has the same end', async () => {
    const twin = `${newId(START).slice(0, -9)}${mine.teamId.slice(-9)}`;
    expect(scopeOf('router', twin)).toBe(scopeOf('router', mine.teamId));
    await storage.db.insertInto('teams').values({ id: twin, name: 'twin', created_at: START }).execute();
    expect(await find('HW7')).toHaveLength(1);
    expect(await find('HW7', twin)).toEqual([]);
  });

  test('of a site only its own devices, also beside a site whose id has the same mark', async () => {
    const twin = `${newId(START).slice(0, -9)}${mine.sites[0]!.slice(-9)}`;
    expect(placeOf(twin)).toBe(placeOf(mine.sites[0]!));
    await storage.db.insertInto('sites').values({ id: twin, team_id: mine.teamId, name: 'twin', created_at: START }).execute();
    await addDevice(mine, '4C:5E:0C:AA:BB:01', { siteId: mine.sites[0]! });
    const id = await addDevice(mine, '4C:5E:0C:AA:BB:02', { siteId: twin });
    const wish = { teamId: mine.teamId, kind: 'device', texts: ['4c:5e'], place: 'anywhere', limit: 9 } as const;
    expect(await selectHits(storage, wish)).toHaveLength(2);
    expect(await selectHits(storage, { ...wish, siteId: twin })).toEqual([id]);
  });

  test('a page goes on behind any number, and never among the records of others', async () => {
    for (let index = 10; index < 20; index += 1) await addDevice(mine, `00:1B:C5:00:00:${index}`);
    await addDevice(other, '00:1B:C5:00:00:01');
    const page = (before: number | undefined) =>
      searchDevices(
        storage,
        { teamId: mine.teamId, siteId: undefined, texts: ['00:1b'] },
        { limit: 3, before: before === undefined ? undefined : { at: before, id: '' } },
      );
    const seen: string[] = [];
    for (let rows = await page(undefined); rows.length > 0; rows = await page(rows.at(-1)!.n)) seen.push(...rows.map(({ mac }) => mac));
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => `00:1B:C5:00:00:${19 - index}`));
    expect((await page(999_999_999_999_999)).map(({ mac }) => mac)).toEqual(seen.slice(0, 3));
    expect(await page(0)).toEqual([]);
  });

  test('no longer what was removed, and under its new name what was renamed', async () => {
    const [first, second] = mine.routers as [string, string];
    await storage.db.updateTable('routers').set({ removed_at: START }).where('id', '=', first).execute();
    await storage.db.updateTable('routers').set({ identity: 'renamed' }).where('id', '=', second).execute();
    expect(await find('HW0')).toEqual([]);
    expect(await find(first)).toEqual([]);
    expect(await find('renamed')).toMatchObject([{ id: second }]);
    expect((await find('gw-1')).map(({ id }) => id)).not.toContain(second);
    await storage.db
      .deleteFrom('sites')
      .where('id', '=', mine.sites[0]!)
      .execute()
      .catch(() => undefined);
  });

  test('text that means something to a query language is text like any other', async () => {
    const before = await find('gw-2');
    for (const text of HOSTILE) {
      expect(await find(text), text).toEqual([]);
      await storage.db
        .updateTable('routers')
        .set({ identity: `<${text}>` })
        .where('id', '=', mine.routers[9]!)
        .execute();
      const found = await find(`<${text}>`);
      expect(
        found.map(({ id, match }) => [id, match]),
        text,
      ).toEqual([[mine.routers[9], 'exact']]);
      expect(await find('gw-2')).toEqual(before);
    }
  });

  test('marks of the index in a text find nothing of another team', async () => {
    for (const text of ['\u0002', '\u0002\u0002', '\u0002\u0002gw', '\u0003\u0002\u0002', placeOf(other.sites[0]!)]) {
      const ids = (await find(text)).map(({ id }) => id);
      expect(ids.filter((id) => other.routers.includes(id) || other.agents.includes(id) || other.sites.includes(id))).toEqual([]);
    }
  });

  test.each(['', ' ', 'x'.repeat(101), '\0'])('%j is refused', async (text) => {
    const { status, body } = await app.get(mine.teamId, `/api/search?q=${encodeURIComponent(text)}`);
    expect(status).toBe(422);
    expect(Object.keys(body['errors'] as object)).toEqual(['q']);
  });

  test('documents wait until they are indexed, a second later, and are found all the time', async () => {
    const waiting = async (): Promise<number> =>
      storage.engine === 'sqlite' ? (await sql`select 1 from search_waiting`.execute(storage.db)).rows.length : 0;
    const routers = async (): Promise<string[]> => (await find('gw-1')).map(({ id }) => id);
    const found = await routers();
    expect(found).not.toEqual([]);
    if (storage.engine === 'sqlite') expect(await waiting()).toBeGreaterThan(0);
    const clock = new ManualClock();
    const own = search.create({ storage, clock, log: silentLog, states: undefined as never });
    await search.start!(own);
    clock.advance(1000);
    await waitUntil('nothing waits', async () => (await waiting()) === 0);
    expect(await routers()).toEqual(found);
    await search.stop!(own);
  });

  test('whatever is written, the index has what the records have', async () => {
    const { db } = storage;
    const macs = ['4C:5E:0C:AA:BB:01', '4C:5E:0C:AA:BB:02'];
    const ids = [await addDevice(mine, macs[0]!, { ip: '10.0.0.1' }), await addDevice(mine, macs[1]!)];
    const word = fc.constantFrom(null, 'till', 'Kasse Ö', '10.0.0.9', '%_"\\', '');
    const step = fc.record({
      what: fc.constantFrom(
        'hostname',
        'alias',
        'no alias',
        'address',
        'site',
        'router',
        'removal',
        'agent',
        'sighting',
        'device',
        'index',
        'index',
      ),
      which: fc.nat(1),
      word,
    });
    const WORDS = ['till', 'kasse Ö', '10.0.0', 'gw-', '4c:5e', '%_"'];
    const hitsOf = (kind: SearchKind): Promise<string[][]> =>
      Promise.all(
        WORDS.map(async (text) =>
          (await selectHits(storage, { teamId: mine.teamId, kind, texts: [text], place: 'anywhere', limit: 100 })).toSorted(),
        ),
      );
    const ofMine = new Set([...mine.routers, ...mine.agents]);
    const holding = (all: readonly Indexed[], kind: SearchKind): string[][] =>
      WORDS.map((text) =>
        all
          .filter((one) => one.kind === kind && (kind === 'device' || ofMine.has(one.record_id)) && one.content.includes(lowerAscii(text)))
          .map((one) => one.record_id)
          .toSorted(),
      );
    const take = async ({ what, which, word: text }: { what: string; which: number; word: string | null }): Promise<void> => {
      const [id, mac, routerId] = [ids[which]!, macs[which]!, mine.routers[which]!];
      const ofTeam = { team_id: mine.teamId, mac };
      if (what === 'index') await indexWaiting(storage);
      if (what === 'hostname') await db.updateTable('devices').set({ hostname: text }).where('id', '=', id).execute();
      if (what === 'alias')
        await db
          .insertInto('device_aliases')
          .values({ ...ofTeam, alias: text ?? 'x', updated_at: START })
          .onConflict((conflict) => conflict.columns(['team_id', 'mac']).doUpdateSet({ alias: text ?? 'y' }))
          .execute();
      if (what === 'no alias') await db.deleteFrom('device_aliases').where('mac', '=', mac).execute();
      if (what === 'address') await db.updateTable('device_sightings').set({ ip_address: text }).where('device_id', '=', id).execute();
      if (what === 'site')
        await db
          .updateTable('devices')
          .set({ site_id: which === 0 ? mine.sites[0]! : null })
          .where('id', '=', id)
          .execute();
      if (what === 'router')
        await db
          .updateTable('routers')
          .set({ identity: text ?? 'x', model: text })
          .where('id', '=', routerId)
          .execute();
      if (what === 'removal')
        await db
          .updateTable('routers')
          .set({ removed_at: text === null ? null : START })
          .where('id', '=', routerId)
          .execute();
      if (what === 'agent')
        await db
          .updateTable('agents')
          .set({ name: text ?? 'x', removed_at: text === '' ? START : null })
          .where('id', '=', mine.agents[0]!)
          .execute();
      if (what === 'sighting') await db.deleteFrom('device_sightings').where('device_id', '=', id).execute();
      if (what === 'device') {
        await db.deleteFrom('devices').where('id', '=', id).execute();
        ids[which] = await addDevice(mine, mac, text === null ? {} : { hostname: text });
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        for (const one of steps) {
          await take(one);
          const all = await indexed(storage);
          expect(all).toEqual(await records(storage));
          for (const kind of ['device', 'router', 'agent'] as const) expect(await hitsOf(kind)).toEqual(holding(all, kind));
        }
      }),
      { numRuns: 25 },
    );
    for (const { kind, record_id: id, content } of await indexed(storage)) {
      const wish = { teamId: mine.teamId, kind: kind as SearchKind, limit: 100 };
      if (![...other.routers, ...other.agents, ...other.sites].includes(id))
        expect(await selectHits(storage, { ...wish, texts: [content.slice(0, 30)], place: 'anywhere' })).toContain(id);
    }
    expect((await find('4c:5e:0c:aa:bb')).map(({ id }) => id).toSorted((one, two) => (one < two ? -1 : 1))).toEqual(macs);
  });
});

interface Indexed {
  kind: string;
  record_id: string;
  place: string | null;
  content: string;
}

async function indexed({ db }: Storage): Promise<Indexed[]> {
  return (await sql<Indexed>`select kind, record_id, place, content from search_documents order by kind, record_id`.execute(db)).rows;
}

async function records({ db }: Storage): Promise<Indexed[]> {
  const views = Object.keys(SEARCH_KINDS).map(
    (kind) => sql`select ${sql.lit(kind)} as kind, record_id, place, content from ${sql.table(`searched_${kind}s`)}`,
  );
  return (await sql<Indexed>`select * from (${sql.join(views, sql` union all `)}) as records order by 1, 2`.execute(db)).rows;
}
