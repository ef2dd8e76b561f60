import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, CHROMIUM_PATH } from '../../../test/harness/chromium.ts';
import type { ConsoleServerPart } from '../parts/console-server.ts';

const WAIT_MS = 120_000;
/** Makes `window.bench`. */
const IN_PAGE = path.join(import.meta.dirname, 'in-page.js');

type Server = Pick<ConsoleServerPart, 'url' | 'holder'>;

/** Debian's Chromium with somebody signed in. */
export class ConsoleVisit {
  readonly #browser: Browser;
  readonly #context: BrowserContext;
  readonly #url: string;
  /** Whose events the tabs share. */
  readonly holder: string;

  private constructor(browser: Browser, context: BrowserContext, { url, holder }: Server) {
    this.#browser = browser;
    this.#context = context;
    this.#url = url;
    this.holder = holder;
  }

  static async start({ url, holder }: Server, email: string, password: string): Promise<ConsoleVisit> {
    // Without the flag a page sees its own memory in steps of megabytes.
    const args = [...CHROMIUM_ARGUMENTS, '--enable-precise-memory-info'];
    const browser = await chromium.launch({ executablePath: CHROMIUM_PATH, args });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    await page.goto(`${url}/`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1').waitFor();
    await page.close();
    return new ConsoleVisit(browser, context, { url, holder });
  }

  /** A new tab at this address. @param slowdown of the processor, as the browser's own tools do it */
  async open(address: string, { slowdown = 1 } = {}): Promise<{ page: Page; devtools: CDPSession }> {
    const page = await this.#context.newPage();
    const devtools = await this.#context.newCDPSession(page);
    if (slowdown > 1) await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.addInitScript({ path: IN_PAGE });
    await page.goto(`${this.#url}${address}`, { waitUntil: 'commit' });
    return { page, devtools };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
