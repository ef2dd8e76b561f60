import { beforeAll, describe, expect, test } from 'vitest';
import { teamFaultsRoute } from '../../server/fleet/faults/list/routes.ts';
import { findFaults } from '../../server/fleet/faults/list/store.ts';
import type { ListPage } from '../../server/platform/core/list-page.ts';
import { chosen, mergePages } from '../../server/platform/core/list-page.ts';
import type { Db, Storage } from '../../server/platform/storage/db.ts';
import { teamBackupsRoute } from '../../server/work/backups/list/routes.ts';
import { findBackups } from '../../server/work/backups/list/store.ts';
import { BACKUP_STATES } from '../../server/work/backups/types.ts';
import { teamForwardsRoute } from '../../server/work/forwards/list/routes.ts';
import { findForwards } from '../../server/work/forwards/list/store.ts';
import { teamJobsRoute } from '../../server/work/jobs/list/routes.ts';
import { findJobs } from '../../server/work/jobs/list/store.ts';
import { STATUSES, statusOf } from '../../server/work/jobs/state.ts';
import { countJobs, countOpenFaults, countOpenForwards } from '../../server/fleet/overview/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedBackups, seedFaults, seedForwards, seedJobs } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { TeamApp } from '../harness/team-app.ts';

const START = 1_700_000_000_000;
const JOBS = 1500;
/** Of which the other team has more, so that reading all of them would show. */
const OTHER_JOBS = 7500;

type Answer = { data: Record<string, unknown>[]; total?: number };

describe('values of a filter', () => {
  test.each([
    [[], [], ['a', 'b', 'c']],
    [['a'], [], ['a']],
    [['a', 'b'], ['a'], ['b']],
    [[], ['a'], ['b', 'c']],
    [['a'], ['a'], []],
  ])('only %j and not %j leave %j', (only, not, left) => {
    expect(chosen(['a', 'b', 'c'], { only, not })).toEqual(left);
  });

  test('pages of several queries are one page in the same order', () => {
    const page: ListPage = { limit: 3, sort: 'x', descending: true, after: undefined };
    const rows = [
      [
        { id: 'b', at: 5 },
        { id: 'a', at: 1 },
      ],
      [
        { id: 'c', at: 5 },
        { id: 'd', at: 0 },
      ],
      [],
    ];
    expect(mergePages(rows, page, ({ at }) => at).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
    expect(
      mergePages(
        rows.map((row) => row.toReversed()),
        { ...page, descending: false },
        ({ at }) => at,
      ).map(({ id }) => id),
    ).toEqual(['d', 'a', 'b']);
  });
});

describeEachDatabase('records of the whole team', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let mine: ManyRouters;
  let other: ManyRouters;

  beforeAll(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, 60);
    other = await seedManyRouters(storage, 60);
    for (const [team, count] of [
      [mine, JOBS],
      [other, OTHER_JOBS],
    ] as const) {
      const jobs = await seedJobs(storage, team, count, START);
      await seedFaults(storage, team, count / 2, START);
      await seedForwards(storage, team, count / 2, START);
      await seedBackups(storage, team, jobs, START);
    }
    await learnSizes(storage);
    const { db } = storage;
    const now = () => START;
    const view = (record: object) => ({
      record,
      openConnections: 0,
      connectionCount: 0,
      bytesIn: 0,
      bytesOut: 0,
      maxConnections: 1,
      entryName: undefined,
    });
    app = new TeamApp((scope) => {
      teamJobsRoute(scope, { jobs: { findJobs: (...query: Tail<typeof findJobs>) => findJobs(db, ...query) } as never });
      teamFaultsRoute(scope, { faults: { listTeamFaults: (...query: Tail<typeof findFaults>) => findFaults(db, ...query) }, now });
      const listForwards = async (...query: Tail<typeof findForwards>) => {
        const { rows, total } = await findForwards(db, ...query);
        return { rows: rows.map(view), total };
      };
      teamForwardsRoute(scope, { forwards: { listTeam: listForwards } as never, now });
      const listBackups = async (...query: Tail<typeof findBackups>) => {
        const { rows, total } = await findBackups(db, ...query);
        return { rows: rows.map((record) => ({ record, parts: [] })), total };
      };
      teamBackupsRoute(scope, { backups: { listTeamBackups: listBackups } as never });
    });
  });

  type Tail<Store extends (db: Db, ...rest: never[]) => unknown> = Store extends (db: Db, ...rest: infer Rest) => unknown ? Rest : never;

  const pages = async (path: string): Promise<{ rows: Record<string, unknown>[]; total: number | undefined }> => {
    const rows: Record<string, unknown>[] = [];
    let total: number | undefined;
    for (let next: string | undefined = path; next !== undefined;) {
      const { status, headers, body } = await app.get(mine.teamId, next);
      expect(status, JSON.stringify(body)).toBe(200);
      rows.push(...(body as Answer).data);
      total ??= (body as Answer).total;
      next = /^<([^>]*)>/.exec((headers['link'] as string | undefined) ?? '')?.[1];
    }
    return { rows, total };
  };

  /** What a filter finds is what it leaves of everything, in the same order, and counted. */
  const expectFilter = async (path: string, filter: string, isWanted: (row: Record<string, unknown>) => boolean) => {
    const everything = (await pages(`${path}?limit=1000`)).rows;
    const expected = everything.filter(isWanted).map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(everything.length);
    const found = await pages(`${path}?${filter}&limit=97&total=true`);
    expect(found.rows.map(({ id }) => id)).toEqual(expected);
    expect(found.total).toBe(expected.length);
    const upwards = await pages(`${path}?${filter}&limit=97&sort=created_at`);
    expect(upwards.rows.map(({ id }) => id)).toEqual(expected.toReversed());
  };

  test('each list has all records of the team, newest first, and no other', async () => {
    for (const [path, count] of [
      ['/api/jobs', JOBS],
      ['/api/faults', JOBS / 2],
      ['/api/transient-forwarding', JOBS / 2],
      ['/api/backups', JOBS],
    ] as const) {
      const { rows } = await pages(`${path}?limit=100`);
      expect(rows).toHaveLength(count);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(count);
      const moments = rows.map((row) => String(row['created_at']));
      expect(moments).toEqual(moments.toSorted().toReversed());
      const routerIds = new Set(rows.map((row) => row['router_id'] ?? row['rid']));
      expect(
        [...routerIds].every((id) => mine.routers.includes(id as string)),
        path,
      ).toBe(true);
      expect((await pages(`${path}?router_id=${other.routers[0]}`)).rows).toEqual([]);
    }
  });

  test('the status of a job is the same in SQL and in the program', async () => {
    const rows = await storage.db.selectFrom('jobs').selectAll().where('team_id', '=', mine.teamId).execute();
    const expected = Object.groupBy(rows, statusOf);
    for (const status of STATUSES) {
      const { rows: found } = await pages(`/api/jobs?status=${status}&limit=1000`);
      expect(new Set(found.map(({ id }) => id)), status).toEqual(new Set(expected[status]!.map(({ id }) => id)));
      expect(found.every((job) => job['status'] === status)).toBe(true);
    }
  });

  test('jobs by status, router, site and time', async () => {
    await expectFilter('/api/jobs', 'status=failed,unknown', ({ status }) => status === 'failed' || status === 'unknown');
    await expectFilter('/api/jobs', 'status=!completed', ({ status }) => status !== 'completed');
    await expectFilter('/api/jobs', `router_id=${mine.routers[3]}`, (job) => job['router_id'] === mine.routers[3]);
    await expectFilter('/api/jobs', 'site_id=none', (job) => job['site_id'] === null);
    await expectFilter(
      '/api/jobs',
      `site_id=${mine.sites[0]}&status=pending`,
      (job) => job['site_id'] === mine.sites[0] && job['status'] === 'pending',
    );
    const [from, to] = [new Date(START + 50).toISOString(), new Date(START + 200).toISOString()];
    await expectFilter('/api/jobs', `from=${from}&to=${to}`, (job) => String(job['created_at']) >= from && String(job['created_at']) < to);
  });

  test('jobs come without script and output', async () => {
    const [job] = (await pages('/api/jobs?limit=1000')).rows;
    expect(job).not.toHaveProperty('output');
    expect(job).not.toHaveProperty('script');
  });

  test('faults by status, severity and type', async () => {
    await expectFilter('/api/faults', 'status=open', ({ status }) => status === 'open');
    await expectFilter('/api/faults', 'severity=critical,warning', ({ severity }) => severity !== 'info');
    await expectFilter(
      '/api/faults',
      'severity=!critical&status=resolved',
      ({ severity, status }) => severity !== 'critical' && status === 'resolved',
    );
    await expectFilter(
      '/api/faults',
      'type=router_offline,agent_offline&severity=critical',
      ({ type, severity }) => ['router_offline', 'agent_offline'].includes(String(type)) && severity === 'critical',
    );
    await expectFilter('/api/faults', 'type=!router_offline', ({ type }) => type !== 'router_offline');
  });

  test('forwards and backups by state', async () => {
    await expectFilter('/api/transient-forwarding', 'status=open', (forward) => forward['closed_at'] === null);
    await expectFilter('/api/transient-forwarding', 'status=closed', (forward) => forward['closed_at'] !== null);
    await expectFilter('/api/backups', 'state=stored,lost', ({ state }) => state !== 'pending');
    await expectFilter(
      '/api/backups',
      `state=!stored&router_id=${mine.routers[3]}`,
      (backup) => backup['state'] !== 'stored' && backup['router_id'] === mine.routers[3],
    );
  });

  test.each([
    ['status', '/api/jobs?status=done'],
    ['site_id', '/api/jobs?site_id=hq'],
    ['router_id', '/api/jobs?router_id=gw'],
    ['from', '/api/jobs?from=yesterday'],
    ['sort', '/api/jobs?sort=status'],
    ['fields', '/api/jobs?fields=script'],
    ['severity', '/api/faults?severity=high'],
    ['type', '/api/faults?type=other'],
    ['status', '/api/transient-forwarding?status=expired'],
    ['state', '/api/backups?state=ready'],
    ['cursor', '/api/backups?cursor=x'],
  ])('names %s when it is refused: %s', async (field, path) => {
    const { status, body } = await app.get(mine.teamId, path);
    expect(status).toBe(422);
    expect(Object.keys(body['errors'] as object)).toEqual([field]);
  });

  test('no list reads rows of another team, or sorts more than a page', async () => {
    const { teamId, routers, sites } = mine;
    const any = { only: [], not: [] };
    const records = { routerId: undefined, from: undefined, to: undefined };
    const allJobs = { ...records, statuses: STATUSES, siteId: undefined };
    const allFaults = { ...records, status: undefined, severities: any, types: any };
    const runs: [string, (db: Db, page: ListPage) => Promise<unknown>][] = [
      ['jobs', (db, page) => findJobs(db, teamId, allJobs, page, true)],
      ['jobs by status', (db, page) => findJobs(db, teamId, { ...allJobs, statuses: ['failed', 'unknown'] }, page, true)],
      ['jobs of a router', (db, page) => findJobs(db, teamId, { ...allJobs, routerId: routers[0] }, page, true)],
      [
        'failed jobs of a router',
        (db, page) => findJobs(db, teamId, { ...allJobs, routerId: routers[0], statuses: ['failed'] }, page, true),
      ],
      ['jobs of a site', (db, page) => findJobs(db, teamId, { ...allJobs, siteId: sites[0] }, page, true)],
      ['jobs of no site', (db, page) => findJobs(db, teamId, { ...allJobs, siteId: null }, page, true)],
      ['jobs of a site by status', (db, page) => findJobs(db, teamId, { ...allJobs, siteId: sites[0], statuses: ['failed'] }, page, true)],
      ['jobs of a time', (db, page) => findJobs(db, teamId, { ...allJobs, from: START, to: START + 50 }, page, true)],
      ['the overview of jobs', (db) => countJobs(db, teamId, STATUSES, START)],
      ['the overview of faults', (db) => countOpenFaults(db, teamId)],
      ['the overview of forwards', (db) => countOpenForwards(db, teamId)],
      ['faults', (db, page) => findFaults(db, teamId, allFaults, page, true)],
      ['open faults', (db, page) => findFaults(db, teamId, { ...allFaults, status: 'open' }, page, true)],
      [
        'faults by severity',
        (db, page) => findFaults(db, teamId, { ...allFaults, severities: { only: ['critical', 'info'], not: [] } }, page, true),
      ],
      [
        'open faults by type',
        (db, page) => findFaults(db, teamId, { ...allFaults, status: 'open', types: { only: ['router_offline'], not: [] } }, page, true),
      ],
      ['forwards', (db, page) => findForwards(db, teamId, { ...records, status: undefined }, page, true)],
      ['open forwards', (db, page) => findForwards(db, teamId, { ...records, status: 'open' }, page, true)],
      ['forwards of a router', (db, page) => findForwards(db, teamId, { ...records, status: 'closed', routerId: routers[0] }, page, true)],
      ['backups', (db, page) => findBackups(db, teamId, { ...records, states: BACKUP_STATES }, page, true)],
      ['backups by state', (db, page) => findBackups(db, teamId, { ...records, states: ['lost'] }, page, true)],
      [
        'backups of a router',
        (db, page) => findBackups(db, teamId, { ...records, states: BACKUP_STATES, routerId: routers[0] }, page, true),
      ],
    ];
    for (const [name, run] of runs) {
      for (const after of [undefined, { value: START + 100, id: routers[0]! }]) {
        const page: ListPage = { limit: 50, sort: 'created_at', descending: true, after };
        for (const { reads, sorted, text } of await plansOf(storage, (db) => run(db, page))) {
          const tables = reads.filter(({ table }) => ['jobs', 'faults', 'forwards', 'backups'].includes(table));
          expect(tables.length, `${name}: ${text}`).toBeGreaterThan(0);
          for (const { condition } of tables) expect(condition, `${name}: ${text}`).toMatch(conditionOf(name));
          expect(sorted, `${name}: ${text}`).toBeLessThanOrEqual(1000);
        }
      }
    }
  });

  /** What a list is read by. An index of an expression names it `<expr>` on SQLite. */
  function conditionOf(name: string): RegExp {
    if (name.includes('jobs of a router')) return /team_id.*router_id/s;
    return name.includes('site') ? /team_id.*site_id.*(?:<expr>|CASE)/s : /team_id/;
  }

  test('the jobs of the overview are counted in the index alone', async () => {
    const [plan] = await plansOf(storage, (db) => countJobs(db, mine.teamId, STATUSES, START));
    const reads = plan!.text.split('\n').filter((line) => line.includes('jobs_by_status'));
    expect(reads).toHaveLength(STATUSES.length);
    for (const read of reads) expect(read).toMatch(/Index Only Scan|COVERING INDEX/);
  });

  test('the jobs of the overview are as many as the list has, by status', async () => {
    const { counts, isExact } = await countJobs(storage.db, mine.teamId, STATUSES, START + 20);
    const filter = { routerId: undefined, from: START + 20, to: undefined, siteId: undefined };
    const page: ListPage = { limit: 1, sort: 'created_at', descending: true, after: undefined };
    for (const status of STATUSES) {
      const { total } = await findJobs(storage.db, mine.teamId, { ...filter, statuses: [status] }, page, true);
      expect([status, counts[status], isExact]).toEqual([status, total!.count, total!.isExact]);
    }
  });
});
