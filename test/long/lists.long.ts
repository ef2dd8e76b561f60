import process from 'node:process';
import { beforeAll, expect, test } from 'vitest';
import { searchDevices } from '../../server/fleet/devices/list/store.ts';
import { selectRouterPage, countRouterMatches } from '../../server/fleet/routers/list/store.ts';
import type { RouterSort } from '../../server/fleet/routers/list/types.ts';
import { SearchService } from '../../server/fleet/search/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { findJobs } from '../../server/work/jobs/list/store.ts';
import { STATUSES } from '../../server/work/jobs/state.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { EVERY_ROUTER } from '../harness/list-routers.ts';
import { seedDevices, seedJobs } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes } from '../harness/plans.ts';

const START = 1_700_000_000_000;
const ROUTERS = 10_000;
const JOBS = 1_000_000;
const DEVICES = 200_000;
/** Of each question, for the 99th of 100. */
const TIMES = 100;
/** Bars of the lists and searches, milliseconds. Other programs may use the processors meanwhile: see `SLOWNESS`. */
const SEARCH_P99_MS = 50;
const PAGE_P99_MS = 25;
/** The machine of the test may have other work: a bar is for a quiet one. */
const SLOWNESS = Number(process.env['LISTS_SLOWNESS'] ?? 1);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

describeEachDatabase('10,000 routers, 1,000,000 jobs and 200,000 devices', (open, kind) => {
  let storage: Storage;
  let mine: ManyRouters;
  let jobs: string[];

  beforeAll(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, ROUTERS, START);
    const other = await seedManyRouters(storage, 100, START);
    const startedAt = performance.now();
    await seedDevices(storage, mine, DEVICES, START);
    const ms = performance.now() - startedAt;
    print(`${kind.name}: ${DEVICES} devices with their index in ${(ms / 1000).toFixed(1)} s`);
    await seedDevices(storage, other, 20_000, START);
    jobs = await seedJobs(storage, mine, JOBS, START);
    await seedJobs(storage, other, 10_000, START);
    await learnSizes(storage);
  }, 3_600_000);

  /** The 99th of 100 times. */
  const p99 = async (what: string, ask: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < TIMES; turn += 1) {
      const startedAt = performance.now();
      await ask();
      times.push(performance.now() - startedAt);
    }
    times.sort((one, other) => one - other);
    const [median, slowest] = [times[Math.floor(TIMES / 2)]!, times[Math.floor(TIMES * 0.99) - 1]!];
    print(`${kind.name}: ${what}: p50 ${median.toFixed(1)} ms, p99 ${slowest.toFixed(1)} ms`);
    return slowest;
  };

  test.each([
    ['no device', 'nosuchthing'],
    ['no device, of common parts', '192.168.255.255.1'],
    ['one device', 'iphone-77777'],
    ['a third of them', 'till'],
    ['an address of most', '192.168'],
    ['a manufacturer', 'samsung'],
    ['the beginning of a MAC address', '4c5e.0c'],
    ['a given name', 'till 3'],
    ['two characters', '19'],
    ['two characters of nothing', 'zq'],
  ])('devices are searched for %s in time', async (what, text) => {
    const page = { limit: 100, before: undefined };
    const time = await p99(`search ${what}`, () => searchDevices(storage, { teamId: mine.teamId, siteId: undefined, texts: [text] }, page));
    expect(time).toBeLessThan(SEARCH_P99_MS * SLOWNESS);
    const siteId = mine.sites[3]!;
    expect(
      await p99(`search ${what} at a site`, () => searchDevices(storage, { teamId: mine.teamId, siteId, texts: [text] }, page)),
    ).toBeLessThan(SEARCH_P99_MS * SLOWNESS);
  });

  test.each(['till', 'gw-1', 'nosuchthing', '192.168', 'job 1', '1'])('everything is searched for %s in time', async (text) => {
    const search = new SearchService({ storage, states: { of: () => undefined } });
    expect(await p99(`search everything for ${text}`, () => search.search(mine.teamId, text))).toBeLessThan(SEARCH_P99_MS * SLOWNESS);
  });

  test.each(['created_at', 'identity', 'model', 'version'] as const satisfies RouterSort[])('a page of routers by %s', async (sort) => {
    const far = { value: sort === 'created_at' ? START + 1000 : 'gw-5', id: newId(START) };
    for (const after of [undefined, far]) {
      const page = { limit: 100, sort, descending: true, after };
      const ask = () => selectRouterPage(storage.db, mine.teamId, EVERY_ROUTER, page);
      expect(await p99(`routers by ${sort}`, ask)).toBeLessThan(PAGE_P99_MS * SLOWNESS);
    }
  });

  test('routers are counted and searched', async () => {
    const filter = { ...EVERY_ROUTER, search: 'gw-77' };
    const page = { limit: 100, sort: 'created_at' as const, descending: true, after: undefined };
    expect(await p99('routers with a text', () => selectRouterPage(storage.db, mine.teamId, filter, page))).toBeLessThan(
      SEARCH_P99_MS * SLOWNESS,
    );
    expect(await p99('count of routers', () => countRouterMatches(storage.db, mine.teamId, EVERY_ROUTER))).toBeLessThan(
      PAGE_P99_MS * SLOWNESS,
    );
  });

  test('a page of a million jobs, wherever it is and whatever is asked', async () => {
    const everything = { routerId: undefined, from: undefined, to: undefined, statuses: STATUSES, siteId: undefined };
    const middle = { value: START + Math.floor(JOBS / 6), id: jobs[JOBS / 2]! };
    for (const [what, filter] of [
      ['jobs', everything],
      ['failed jobs', { ...everything, statuses: ['failed'] as const }],
      ['jobs of three statuses', { ...everything, statuses: ['failed', 'unknown', 'expired'] as const }],
      ['jobs of a router', { ...everything, routerId: mine.routers[5]! }],
      ['failed jobs of a router', { ...everything, routerId: mine.routers[5]!, statuses: ['failed'] as const }],
      ['jobs of a site', { ...everything, siteId: mine.sites[3]! }],
      ['jobs of an hour', { ...everything, from: START + 1000, to: START + 2000 }],
    ] as const) {
      for (const after of [undefined, middle]) {
        const page = { limit: 100, sort: 'created_at', descending: true, after };
        const time = await p99(`${what}${after ? ', far down' : ''}`, () => findJobs(storage.db, mine.teamId, filter, page, false));
        expect(time).toBeLessThan(PAGE_P99_MS * SLOWNESS);
      }
    }
  });
});
