import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { isChromiumMissing } from '../../test/harness/chromium.ts';
import { buildConsole, sizeOfConsole } from '../build-console/build.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { seedManyRouters } from '../../test/harness/many-routers.ts';
import { ConsoleVisit } from './browser/console-visit.ts';
import type { Field } from './field.ts';
import type { ConsoleServerPart } from './parts/console-server.ts';
import { KEYSTROKES } from './keystrokes.ts';
import { BenchProcess } from './processes.ts';
import { quietLog } from './quiet-log.ts';
import type { Row } from './report.ts';
import { median, quantile } from './statistics.ts';

const EMAIL = 'bench@example.org';
const PASSWORD = 'correct horse battery';
const CHANGES_PER_SECOND = 1000;
const LISTENED_MS = 10_000;
const SCROLL_PX_PER_SECOND = 5400;
const SCROLLED_MS = 5000;
const SLOWDOWN = 4;
const TABS = 10;

/** Bars of the web application: bytes, milliseconds, rows, tasks, streams. */
const BARS = {
  scripts: 180_000,
  styles: 30_000,
  lazy: 100_000,
  usable: { 50: 1500, 5000: 3000 },
  frame: 20,
  rows: 60,
  keystroke: 50,
  task: 100,
  heap: 20e6,
} as const;

/** The web application in Chromium, on a team of 50 and of 5,000 routers. */
export async function consoleRows({ rounds }: Field): Promise<Row[]> {
  await buildConsole();
  const rows = await sizeRows();
  if (isChromiumMissing) throw new Error('the group "console" needs Debian\'s chromium: apt-get install chromium');
  rows.push(await usableRow(50, rounds), await usableRow(5000, rounds));
  rows.push(...(await withFleet(5000, CHANGES_PER_SECOND, busyRows)));
  return rows;
}

async function sizeRows(): Promise<Row[]> {
  const { scripts, styles, lazy } = await sizeOfConsole();
  const row = (name: string, bytes: number, bar: number): Row =>
    atMost(`${name}, bytes to ${bar}`, bytes, bar, `${bytes} bytes with brotli`);
  return [
    row('console: scripts of the first page', scripts, BARS.scripts),
    row('console: styles of the first page', styles, BARS.styles),
    ...lazy
      .slice(0, 1)
      .map(({ file, bytes }) => row(`console: largest part that is loaded when needed (${partName(file)})`, bytes, BARS.lazy)),
  ];
}

/** Without the digest, which changes with every build. */
const partName = (file: string): string => path.basename(file).replace(/-[\w-]{8}\.(js|css)$/, '.$1');

function atMost(name: string, value: number, bar: number, detail: string): Row {
  return { name, ratio: value / bar, bar: { at: 'most', value: 1 }, detail };
}

const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;

async function withFleet<T>(routers: number, changesPerSecond: number, measure: (visit: ConsoleVisit) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-console-'));
  try {
    const { teamId, routers: routerIds } = await fill(folder, routers);
    const options = { folder, teamId, routerIds, changesPerSecond, email: EMAIL, password: PASSWORD };
    const server = await BenchProcess.start<ConsoleServerPart>('console-server', options);
    try {
      const visit = await ConsoleVisit.start(server.result, EMAIL, PASSWORD);
      try {
        return await measure(visit);
      } finally {
        await visit.close();
      }
    } finally {
      await server.process.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(folder: string, routers: number) {
  const storage = await openStorage(`sqlite:${folder}/signalbox.db`, { log: quietLog });
  try {
    await migrate(storage);
    return await seedManyRouters(storage, routers);
  } finally {
    await storage.close();
  }
}

/** From asking for the page to rows and a filter that takes keys; nothing is in the browser's cache at the first time. */
async function usableRow(routers: 50 | 5000, rounds: number): Promise<Row> {
  const bar = BARS.usable[routers];
  const times = await withFleet(routers, 0, async (visit) => {
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { page } = await visit.open('/routers', { slowdown: SLOWDOWN });
      samples.push(await page.evaluate<number>('bench.firstRow'));
      await page.close();
    }
    return samples;
  });
  const detail = `median ${inMs(median(times))}, slowest ${inMs(Math.max(...times))} of ${times.length}`;
  return atMost(`console: ${routers} routers usable, processor ${SLOWDOWN} times slower, to ${bar} ms`, median(times), bar, detail);
}

async function busyRows(visit: ConsoleVisit): Promise<Row[]> {
  const { page, devtools } = await visit.open('/routers');
  await page.evaluate('bench.firstRow');
  await page.getByText('live', { exact: true }).waitFor();
  return [...(await scrollRows(page)), await filterRow(page), ...(await eventRows(page, devtools, visit.holder)), await tabsRow(visit)];
}

async function scrollRows(page: Page): Promise<Row[]> {
  const { frames, rows } = await page.evaluate<{ frames: number[]; rows: number }>(
    `bench.scrollDown(${SCROLL_PX_PER_SECOND}, ${SCROLLED_MS})`,
  );
  const p95 = quantile(frames, 0.95);
  return [
    atMost(
      `console: frame while 5,000 rows scroll and ${CHANGES_PER_SECOND} change a second, p95 to ${BARS.frame} ms`,
      p95,
      BARS.frame,
      `p50 ${inMs(median(frames))}, p95 ${inMs(p95)}, p99 ${inMs(quantile(frames, 0.99))} of ${frames.length} frames`,
    ),
    atMost(`console: rows in the page, to ${BARS.rows}`, rows, BARS.rows, `${rows} rows`),
  ];
}

async function filterRow(page: Page): Promise<Row> {
  const filter = page.getByRole('searchbox');
  await filter.focus();
  await page.evaluate('bench.watchKeys()');
  const times: number[] = [];
  for (const key of [...KEYSTROKES, ...KEYSTROKES.map(() => 'Backspace')]) {
    const before = await page.locator('.count').innerText();
    await page.keyboard.press(key);
    const ms = await page.evaluate<number | null>('bench.shown()');
    if (ms === null) throw await unseen(page, key, before);
    times.push(ms);
  }
  const p95 = quantile(times, 0.95);
  const detail = `p50 ${inMs(median(times))}, p95 ${inMs(p95)} of ${times.length} keys, ${CHANGES_PER_SECOND} changes a second beside them`;
  return atMost(`console: key in the filter of 5,000 routers to its rows, p95 to ${BARS.keystroke} ms`, p95, BARS.keystroke, detail);
}

/** A count that stays the same says nothing about the time: that is no slow page, but the wrong key. */
async function unseen(page: Page, key: string, before: string): Promise<Error> {
  const [count, typed] = [await page.locator('.count').innerText(), await page.getByRole('searchbox').inputValue()];
  return new Error(`no new count after the key ${key}: "${before}", then "${count}", with "${typed}" in the filter at ${page.url()}`);
}

async function eventRows(page: Page, devtools: CDPSession, holder: string): Promise<Row[]> {
  const heap = async (): Promise<number> => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await heap();
  const { numbers, longTasks } = await page.evaluate<{ numbers: number[]; longTasks: number[] }>(
    `bench.listen(${LISTENED_MS}, '${holder}')`,
  );
  const growth = (await heap()) - before;
  const missing = numbers.at(-1)! - numbers[0]! + 1 - numbers.length;
  const longest = Math.max(0, ...longTasks);
  const rate = Math.round(numbers.length / (LISTENED_MS / 1000));
  return [
    atMost(
      `console: longest task at ${CHANGES_PER_SECOND} changes a second, to ${BARS.task} ms`,
      longest,
      BARS.task,
      `${inMs(longest)}, ${longTasks.length} over 50 ms`,
    ),
    {
      name: 'console: changes that the page missed',
      ratio: missing,
      bar: { at: 'most', value: 0 },
      detail: `${missing}, ${rate} a second arrived`,
    },
    atMost(
      `console: growth of the page's memory in 10 s of them, to ${BARS.heap / 1e6} MB`,
      Math.max(0, growth),
      BARS.heap,
      `${(growth / 1e6).toFixed(1)} MB on ${(before / 1e6).toFixed(1)} MB`,
    ),
  ];
}

async function tabsRow(visit: ConsoleVisit): Promise<Row> {
  let workers = 0;
  for (let tab = 1; tab < TABS; tab += 1) {
    const { page } = await visit.open('/');
    await page.getByText('live', { exact: true }).waitFor();
    workers += page.workers().length;
  }
  return {
    name: `console: streams of ${TABS} tabs beyond the first one's`,
    ratio: workers,
    bar: { at: 'most', value: 0 },
    detail: `${workers + 1} stream`,
  };
}
