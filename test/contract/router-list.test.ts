import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { routerListRoute } from '../../server/fleet/routers/list/routes.ts';
import type { RouterListDeps } from '../../server/fleet/routers/list/routes.ts';
import { routerRoutes } from '../../server/fleet/routers/routes.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const START = 1_700_000_000_000;

interface Listed {
  id: string;
  identity: string;
  software_version: string;
  model: string | null;
  site_id: string | null;
  agent_id: string;
}

describeEachDatabase('the list of routers', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let mine: ManyRouters;
  let other: ManyRouters;

  const setUp = async (): Promise<void> => {
    storage = await open();
    const clock = new ManualClock(START);
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 60_000 } });
    const agents = { names: async () => new Map<string, string>() };
    const deps = {
      routers,
      agents,
      states: { of: () => undefined, ofTeam: () => [] },
      now: () => clock.now(),
    } as unknown as RouterListDeps;
    app = new TeamApp((scope) => {
      routerListRoute(scope, deps);
      routerRoutes(scope, deps);
    });
    mine = await seedManyRouters(storage, 120);
    other = await seedManyRouters(storage, 40);
  };
  beforeAll(setUp);

  const get = async (query: string, teamId = mine.teamId) => {
    const { status, headers, body } = await app.get(teamId, `/api/routers${query}`);
    const { data = [], ...rest } = body as { data?: Listed[] };
    const link = (headers['link'] as string | undefined) ?? '';
    return { status, data, rest, next: /^<\/api\/routers(\?[^>]*)>/.exec(link)?.[1] };
  };
  const pages = async (query: string): Promise<Listed[]> => {
    const rows: Listed[] = [];
    for (let next: string | undefined = query; next !== undefined;) {
      const page = await get(next);
      expect(page.status).toBe(200);
      rows.push(...page.data);
      next = page.next;
    }
    return rows;
  };

  test('without parameters is the plain envelope, newest first', async () => {
    const { data, rest, next } = await get('');
    expect(data.map(({ id }) => id)).toEqual(mine.routers.toReversed());
    expect(rest).toEqual({ status: 'success' });
    expect(next).toBeUndefined();
  });

  test.each(['created_at', '-created_at', 'identity', '-identity', 'model', '-model', 'version', '-version'])(
    'sorted by %s is whole in pages',
    async (sort) => {
      const whole = (await get(`?sort=${sort}`)).data.map(({ id }) => id);
      expect((await pages(`?sort=${sort}&limit=7`)).map(({ id }) => id)).toEqual(whole);
      expect(new Set(whole).size).toBe(120);
      if (sort === 'identity')
        expect((await get('?sort=identity')).data.map(({ identity }) => identity)).toEqual(
          mine.routers.map((_, index) => `gw-${index}`).toSorted(),
        );
    },
  );

  test('versions are in the order of their releases, not of their letters', async () => {
    const versions = (await get('?sort=version')).data.map(({ software_version: version }) => version);
    expect([...new Set(versions)]).toEqual([
      'unknown',
      '6.49.10 (long-term)',
      '7.9',
      '7.15beta2',
      '7.15rc1',
      '7.15',
      '7.15.1',
      '7.18.2 (stable)',
    ]);
  });

  test.each([
    ['%3C7.15', ['6.49.10 (long-term)', '7.9', '7.15beta2', '7.15rc1']],
    ['%3C=7.15', ['6.49.10 (long-term)', '7.9', '7.15beta2', '7.15rc1', '7.15']],
    ['%3E=7.9,%3C7.15.1', ['7.9', '7.15beta2', '7.15rc1', '7.15']],
    ['7.15', ['7.15beta2', '7.15rc1', '7.15', '7.15.1']],
    ['=7.15', ['7.15']],
    ['7', ['7.9', '7.15beta2', '7.15rc1', '7.15', '7.15.1', '7.18.2 (stable)']],
    ['!7', ['6.49.10 (long-term)']],
    ['%3C7', ['6.49.10 (long-term)']],
    ['%3E6', ['7.9', '7.15beta2', '7.15rc1', '7.15', '7.15.1', '7.18.2 (stable)']],
    ['7.15rc1', ['7.15rc1']],
    ['%3E7.15rc1,!7.18', ['7.15', '7.15.1']],
  ])('version=%s', async (version, expected) => {
    const found = (await get(`?sort=version&version=${version}`)).data.map(({ software_version: text }) => text);
    expect([...new Set(found)]).toEqual(expected);
  });

  test('filters leave what they name, and the total counts it', async () => {
    const [site, agent] = [mine.sites[0]!, mine.agents[1]!];
    const all = (await get('')).data;
    const expectFound = async (query: string, isWanted: (router: Listed) => boolean) => {
      const expected = all.filter(isWanted);
      const { data, rest } = await get(`?${query}&total=true&limit=3`);
      expect(data).toEqual(expected.slice(0, 3));
      expect(rest).toEqual({ status: 'success', total: expected.length, total_is_exact: true });
      expect(expected.length).toBeGreaterThan(0);
    };
    await expectFound(`site_id=${site}`, (router) => router.site_id === site);
    await expectFound('site_id=none', (router) => router.site_id === null);
    await expectFound(`site_id=!${site}`, (router) => router.site_id !== site);
    await expectFound(`site_id=${site}&site_id=none`, () => true);
    await expectFound('site_id=!none', (router) => router.site_id !== null);
    await expectFound(`agent_id=${agent}`, (router) => router.agent_id === agent);
    await expectFound('model=RB4011iGS%2B', (router) => router.model === 'RB4011iGS+');
    await expectFound('model=!RB4011iGS%2B', (router) => router.model !== 'RB4011iGS+');
    await expectFound('q=GW-11', (router) => router.identity.includes('gw-11'));
    await expectFound(
      `q=rb4011&agent_id=!${agent}&version=7`,
      (router) => router.model === 'RB4011iGS+' && router.agent_id !== agent && router.software_version.startsWith('7'),
    );
  });

  test('text is searched literally, not as a pattern', async () => {
    expect((await get('?q=%25')).data).toEqual([]);
    expect((await get('?q=_w-1')).data).toEqual([]);
  });

  test('shows the fields that were asked for', async () => {
    const { data } = await get('?fields=id,has_pulse&limit=2');
    expect(data).toEqual(
      mine.routers
        .toReversed()
        .slice(0, 2)
        .map((id) => ({ id, has_pulse: false })),
    );
  });

  test.each([
    ['state', 'sort', 'sort=serial'],
    ['a value', 'version', 'version=newest'],
    ['a value', 'version', 'version=7,7,7,7,7'],
    ['a value', 'site_id', 'site_id=hq'],
    ['a value', 'agent_id', 'agent_id=1'],
    ['a value', 'fields', 'fields=id,password'],
    ['a value', 'total', 'total=yes'],
    ['a value', 'q', 'q='],
    ['a value', 'q', `q=${'x'.repeat(101)}`],
    ['a value', 'limit', 'limit=5001'],
    ['a value', 'limit', 'limit=0'],
    ['a value', 'model', 'model='],
    ['what is no cursor', 'cursor', 'cursor=abc'],
    ['NUL', 'q', 'q=%00'],
  ])('refuses %s and names %s: %s', async (_what, field, query) => {
    const { status, body } = await app.get(mine.teamId, `/api/routers?${query}`);
    expect(status).toBe(422);
    expect(Object.keys(body['errors'] as object)).toEqual([field]);
  });

  test('refuses a cursor of another order, another filter or another type', async () => {
    const cursorOf = async (query: string) => new URLSearchParams((await get(query)).next).get('cursor')!;
    const cursor = await cursorOf('?limit=2&sort=identity');
    for (const query of [`sort=-identity&cursor=${cursor}`, `cursor=${cursor}`, `sort=identity&q=gw&cursor=${cursor}`]) {
      expect((await app.get(mine.teamId, `/api/routers?${query}`)).body['errors'], query).toHaveProperty('cursor');
    }
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    for (const forged of [[parts[0], 5, parts[2]], [parts[0], 'x', 'y'], [parts[0], 'a\0', parts[2]], {}, [parts]]) {
      const text = Buffer.from(JSON.stringify(forged)).toString('base64url');
      expect((await app.get(mine.teamId, `/api/routers?sort=identity&cursor=${text}`)).status, JSON.stringify(forged)).toBe(422);
    }
    // With other fields or another limit it is the same list.
    expect((await get(`?sort=identity&limit=5&fields=id&total=true&cursor=${cursor}`)).data).toHaveLength(5);
  });

  test("never shows another team's routers", async () => {
    expect((await get(`?agent_id=${other.agents[0]}`)).data).toEqual([]);
    expect((await get(`?site_id=${other.sites[0]}`)).data).toEqual([]);
    expect((await get('?total=true', other.teamId)).rest).toMatchObject({ total: 40 });
    // A cursor holds a place in an order, and no right.
    const { next } = await get('?limit=2');
    expect((await get(next!, other.teamId)).data.every(({ id }) => other.routers.includes(id))).toBe(true);
  });

  test('a reader of pages sees each router that did not change exactly once, while others come, go and change', async () => {
    await setUp();
    const change = fc.record({
      kind: fc.constantFrom('rename', 'remove', 'upgrade'),
      at: fc.nat(119),
      name: fc.constantFrom('a', 'gw-50', 'zz'),
    });
    const scenario = fc.record({
      sort: fc.constantFrom('identity', '-identity', '-created_at', 'version'),
      limit: fc.integer({ min: 10, max: 40 }),
      changes: fc.array(change, { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ sort, limit, changes }) => {
        const before = (await get('')).data.map(({ id }) => id);
        const changed = new Set<string>();
        const seen: string[] = [];
        const pending = [...changes];
        for (let next: string | undefined = `?sort=${sort}&limit=${limit}`; next !== undefined;) {
          const page = await get(next);
          seen.push(...page.data.map(({ id }) => id));
          next = page.next;
          const step = pending.shift();
          if (!step) continue;
          const id = mine.routers[step.at]!;
          changed.add(id);
          const values =
            step.kind === 'rename'
              ? { identity: step.name }
              : step.kind === 'upgrade'
                ? { version_key: '00007.00099' }
                : { removed_at: START };
          await storage.db.updateTable('routers').set(values).where('id', '=', id).execute();
        }
        for (const id of before) if (!changed.has(id)) expect(seen.filter((other) => other === id)).toHaveLength(1);
      }),
      { numRuns: 8 },
    );
  });

  test('routers from before version keys get theirs at the next start', async () => {
    await setUp();
    await storage.db.updateTable('routers').set({ version_key: '' }).execute();
    expect((await get('?version=7')).data).toEqual([]);
    const again = new RoutersService({ storage, clock: new ManualClock(START), log: silentLog, rules: { offlineAfterMs: 60_000 } });
    await again.start();
    await again.stop();
    expect((await get('?version=7.18&total=true')).rest).toMatchObject({ total: 15 });
  });
});
