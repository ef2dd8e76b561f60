/**
 * `npm run pictures`: pictures of the web application for docs/pictures, light and dark, from the demo with a large fleet. It starts that demo
 * and ends it, unless `--demo .demo/demo.json` names one that runs. `--only now,routers` takes some of them. `--all` takes every page instead,
 * also as a phone shows it, from a demo with `--routers N`, into `.demo-pictures/N/`, which git ignores.
 * `--mails` takes mails instead.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { Administrator } from './fleet/enrol.ts';
import { everyPage } from './pictures/every-page.ts';
import type { PageOfDemo } from './pictures/every-page.ts';
import { pictureList } from './pictures/list.ts';
import { takeMails } from './pictures/mails.ts';

const root = path.resolve(import.meta.dirname, '..');
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
/** Of the demo on a busy machine, and more for each router. */
const START_MS = 240_000;
const START_MS_PER_ROUTER = 120;
/** For everything that people do in it: a guarded script is undone after a minute. */
const SCENES_MS = 240_000;
const PAGE_MS = 30_000;
/** A page whose picture does not change for so long is done. */
const STILL_MS = 700;
const MOST_LOOKS = 12;
/** Of `--all`, which looks at a few hundred pictures. */
const FEW_LOOKS = 4;
/** Where a demo of somebody else does not look first. */
const OWN_PORT = '22000';

interface DemoFile {
  base_url: string;
  api_key: string;
  admin_email: string;
  admin_password: string;
}

type Theme = 'light' | 'dark';

const { values } = parseArgs({
  options: {
    demo: { type: 'string' },
    only: { type: 'string' },
    all: { type: 'boolean' },
    routers: { type: 'string', default: '500' },
    mails: { type: 'boolean' },
  },
});
const startMs = START_MS + START_MS_PER_ROUTER * Number(values.routers);
const { CHROMIUM: executablePath = '/usr/bin/chromium' } = process.env;

if (values.mails) {
  await takeMails(executablePath, values.only?.split(','));
  process.exit(0);
}

const demo = values.demo === undefined ? await startDemo() : undefined;
try {
  const told = JSON.parse(await readFile(path.resolve(values.demo ?? demo!.file), 'utf8')) as DemoFile;
  process.exitCode = (await (values.all ? takeEveryPage(told) : takeForDocs(told))) ? 0 : 1;
} finally {
  if (demo) await demo.stop();
}

/** @returns false when a page is missing */
async function takeForDocs(told: DemoFile): Promise<boolean> {
  const pages = wantedOf(await waitForScenes(new Administrator(told.base_url, told.api_key)));
  return withBrowser(async (browser) => {
    let isComplete = true;
    for (const theme of ['light', 'dark'] as const) {
      const page = await signedIn(browser, told, { ...DESK, colorScheme: theme });
      const fileOf = (name: string): string => path.join(root, 'docs', 'pictures', `console-${name}-${theme}.png`);
      for (const one of pages) isComplete = (await take(page, told, one, MOST_LOOKS, [[theme, fileOf(one.name)]])) && isComplete;
      await page.context().close();
    }
    return isComplete;
  });
}

/** @returns false when a page has no record or is missing */
async function takeEveryPage(told: DemoFile): Promise<boolean> {
  const api = new Administrator(told.base_url, told.api_key);
  // A small fleet does not have all of them.
  await waitForScenes(api).catch((error: unknown) => process.stderr.write(`${String(error)}; going on without\n`));
  const { pages, without } = await everyPage(api);
  for (const route of without) process.stderr.write(`no picture of ${route}: the demo has no record for it\n`);
  const folder = path.join(root, '.demo-pictures', values.routers);
  return withBrowser(async (browser) => {
    const walk = async (device: object, suffix: string): Promise<boolean> => {
      const page = await signedIn(browser, told, device);
      let isComplete = true;
      for (const one of wantedOf(pages)) {
        const files = (['light', 'dark'] as const).map((theme) => [theme, path.join(folder, `${one.name}-${theme}${suffix}.png`)] as const);
        isComplete = (await take(page, told, one, FEW_LOOKS, files)) && isComplete;
      }
      return isComplete;
    };
    const walks = await Promise.all([walk(DESK, ''), walk(PHONE, '-phone')]);
    return walks.every(Boolean) && without.length === 0;
  });
}

function wantedOf<T extends PageOfDemo>(pages: readonly T[]): readonly T[] {
  const only = values.only?.split(',');
  return only ? pages.filter(({ name }) => only.includes(name)) : pages;
}

async function startDemo(): Promise<{ file: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [path.join(root, 'scripts', 'demo.ts'), `--routers=${values.routers}`], {
    env: { ...process.env, DEMO_PORT: OWN_PORT },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await ready(child);
  // The demo takes the second folder while another one runs in the first.
  const files = ['.demo', `.demo-${OWN_PORT}`].map((name) => path.join(root, name, 'demo.json'));
  const own = await Promise.all(files.map(async (file) => (await readFile(file, 'utf8').catch(() => '')).includes(`:${OWN_PORT}"`)));
  return {
    file: files[own.indexOf(true)]!,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  let output = '';
  const done = new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Ctrl-C ends the demo.')) resolve();
    });
    child.once('exit', () => reject(new Error(`the demo ended:\n${output}`)));
    setTimeout(() => reject(new Error(`the demo did not start in time:\n${output}`)), startMs).unref();
  });
  await done;
}

async function waitForScenes(api: Administrator): Promise<PageOfDemo[]> {
  for (const until = performance.now() + SCENES_MS; ; await pause(2000)) {
    try {
      return await pictureList(api);
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}

async function withBrowser(work: (browser: Browser) => Promise<boolean>): Promise<boolean> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'] });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

async function signedIn(browser: Browser, told: DemoFile, device: NonNullable<Parameters<Browser['newContext']>[0]>): Promise<Page> {
  const context = await browser.newContext({ ...device, reducedMotion: 'reduce', locale: 'en-GB' });
  context.setDefaultTimeout(PAGE_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => process.stderr.write(`error in the page: ${error.message}\n`));
  await page.goto(`${told.base_url}/`);
  await page.getByLabel('Email address').fill(told.admin_email);
  await page.getByLabel('Password').fill(told.admin_password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await isLive(page);
  return page;
}

/** A phone has no room for the word, which is there all the same. */
async function isLive(page: Page): Promise<void> {
  await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
}

/**
 * @param files one for each theme
 * @returns false when there is no such page, or it never ends reading
 */
async function take(
  page: Page,
  told: DemoFile,
  { name, address }: PageOfDemo,
  looks: number,
  files: readonly (readonly [Theme, string])[],
): Promise<boolean> {
  try {
    await page.goto(`${told.base_url}${address}`);
    await page.locator('main h1').first().waitFor();
    if (await page.getByRole('heading', { name: 'There is no such page' }).isVisible()) throw new Error('there is no such page');
    await isLive(page);
    await page.locator('main:not(:has(.reading))').waitFor();
  } catch (error) {
    process.stderr.write(`${name}: ${address}: ${String(error)}\n`);
    return false;
  }
  for (const [theme, file] of files) {
    await page.emulateMedia({ colorScheme: theme });
    await takeStill(page, file, looks);
    process.stdout.write(`${path.relative(root, file)}\n`);
  }
  return true;
}

async function takeStill(page: Page, file: string, looks: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  let before: Buffer | undefined;
  // Live pages never stand still for good: the last look counts.
  for (let look = 0; look < looks; look += 1) {
    const now = await page.screenshot({ path: file });
    if (before && now.equals(before)) return;
    before = now;
    await pause(STILL_MS);
  }
}
