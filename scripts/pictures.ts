/**
 * `npm run pictures`: pictures of the web application for docs/pictures, light and dark, from the demo with a large fleet. It starts that demo
 * and ends it, unless `--demo .demo/demo.json` names one that runs. `--only now,routers` takes some of them.
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
import { pictureList } from './pictures/list.ts';
import type { Picture } from './pictures/list.ts';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, 'docs', 'pictures');
const SIZE = { width: 1440, height: 900 };
/** Of the demo with 500 routers on a busy machine. */
const START_MS = 300_000;
/** For everything that people do in it: a guarded script is undone after a minute. */
const SCENES_MS = 240_000;
const PAGE_MS = 30_000;
/** A page whose picture does not change for so long is done. */
const STILL_MS = 700;
const MOST_LOOKS = 12;
/** Where a demo of somebody else does not look first. */
const OWN_PORT = '22000';

interface DemoFile {
  base_url: string;
  api_key: string;
  admin_email: string;
  admin_password: string;
}

const { values } = parseArgs({ options: { demo: { type: 'string' }, only: { type: 'string' } } });
const { CHROMIUM: executablePath = '/usr/bin/chromium' } = process.env;

const demo = values.demo === undefined ? await startDemo() : undefined;
try {
  const told = JSON.parse(await readFile(path.resolve(values.demo ?? demo!.file), 'utf8')) as DemoFile;
  const pictures = await waitForScenes(new Administrator(told.base_url, told.api_key));
  const wanted = values.only?.split(',');
  process.exitCode = (await takeAll(told, wanted ? pictures.filter(({ name }) => wanted.includes(name)) : pictures)) ? 0 : 1;
} finally {
  if (demo) await demo.stop();
}

async function startDemo(): Promise<{ file: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [path.join(root, 'scripts', 'demo.ts'), '--routers=500'], {
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
    setTimeout(() => reject(new Error(`the demo did not start in time:\n${output}`)), START_MS).unref();
  });
  await done;
}

async function waitForScenes(api: Administrator): Promise<Picture[]> {
  for (const until = performance.now() + SCENES_MS; ; await pause(2000)) {
    try {
      return await pictureList(api);
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}

/** @returns false when a page is missing */
async function takeAll(told: DemoFile, pictures: readonly Picture[]): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'] });
  try {
    let isComplete = true;
    for (const theme of ['light', 'dark'] as const) {
      const page = await signedIn(browser, told, theme);
      for (const picture of pictures) isComplete = (await take(page, told, picture, theme)) && isComplete;
      await page.context().close();
    }
    return isComplete;
  } finally {
    await browser.close();
  }
}

async function signedIn(browser: Browser, told: DemoFile, theme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: theme, reducedMotion: 'reduce', locale: 'en-GB' });
  context.setDefaultTimeout(PAGE_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => process.stderr.write(`error in the page: ${error.message}\n`));
  await page.goto(`${told.base_url}/`);
  await page.getByLabel('Email address').fill(told.admin_email);
  await page.getByLabel('Password').fill(told.admin_password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

async function take(page: Page, told: DemoFile, { name, address }: Picture, theme: string): Promise<boolean> {
  await page.goto(`${told.base_url}${address}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (await page.getByRole('heading', { name: 'There is no such page' }).isVisible()) {
    process.stderr.write(`${name}: there is no page at ${address}\n`);
    return false;
  }
  await page.getByText('live', { exact: true }).waitFor();
  const file = path.join(folder, `console-${name}-${theme}.png`);
  let before: Buffer | undefined;
  // Live pages never stand still for good: the last look counts.
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const now = await page.screenshot({ path: file });
    if (before && now.equals(before)) break;
    before = now;
    await pause(STILL_MS);
  }
  process.stdout.write(`${path.relative(root, file)}\n`);
  return true;
}
