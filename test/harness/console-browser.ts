import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { buildConsole } from '../../scripts/build-console/build.ts';
import { readConsole } from '../../server/operations/console/feature.ts';
import { CHROMIUM_ARGUMENTS, CHROMIUM_PATH, PAGES_PATH } from './chromium.ts';
import { addUser, PASSWORD } from './identity/sign-in.ts';
import { World } from './world.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const PHONE = { width: 390, height: 844 };

/** All that another theme can break. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Longest wait for anything on a page, milliseconds; generous, because the machine may be busy. */
const WAIT_MS = 60_000;

export type Role = 'viewer' | 'operator' | 'admin';

/** A control plane that serves the built web application, with `ROLE@example.org` as its people. */
export async function startConsoleWorld(options: NonNullable<Parameters<typeof World.start>[0]> = {}): Promise<World> {
  await buildConsole();
  const world = await World.start({ ...options, overrides: { ...options.overrides, consoleFiles: readConsole() } });
  for (const role of ['viewer', 'operator', 'admin'] as const) await addUser(world, `${role}@example.org`, role);
  return world;
}

/** Chromium for tests of pages, started once for a test file. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PAGES_PATH, args: CHROMIUM_ARGUMENTS });
}

/** The whole browser, with its store of certificates and its notifications. @param world whose CA it is to trust */
export function launchWholeChromium({ front }: Pick<World, 'front'> = { front: undefined }): Promise<Browser> {
  const env = front === undefined ? {} : { env: { ...process.env, HOME: front.home } };
  return chromium.launch({ executablePath: CHROMIUM_PATH, args: CHROMIUM_ARGUMENTS, ...env });
}

/**
 * One person at one browser. What the browser complains of is gathered: errors in its console (policy violations are among them), exceptions,
 * and requests to any other origin.
 */
export class Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly origin: string;
  complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.context = context;
    this.page = page;
    this.origin = origin;
  }

  static async start(browser: Browser, world: World, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visit> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    const visit = new Visit(context, await context.newPage(), world.origin);
    visit.#listen(visit.page);
    return visit;
  }

  /** Another tab of the same browser. */
  async newTab(path: string): Promise<Page> {
    const page = await this.context.newPage();
    this.#listen(page);
    await page.goto(`${this.origin}${path}`);
    await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
    return page;
  }

  /** Signs in as this role's person and waits until the page hears of changes. */
  async signIn(role: Role, path = '/'): Promise<void> {
    await this.signInAs(`${role}@example.org`, path);
  }

  /** @param path undefined: the page shows the sign-in already */
  async signInAs(email: string, path: string | undefined, password = PASSWORD): Promise<void> {
    if (path !== undefined) await this.page.goto(`${this.origin}${path}`);
    await this.fillSignIn(email, password);
    await this.page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
  }

  /** @param who a role, or an address */
  async fillSignIn(who: Role | (string & {}), password = PASSWORD): Promise<void> {
    await this.page.getByLabel('Email address').fill(who.includes('@') ? who : `${who}@example.org`);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
    await this.page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
    await this.page.locator('h1').waitFor();
  }

  /**
   * What axe finds on the page now: `rule: elements`. What it met while the page exchanged its parts is gone at the second look.
   * @param rules all of them unless given
   */
  async accessibilityViolations(rules?: readonly string[]): Promise<string[]> {
    return (await this.#axeFinds(rules)).length === 0 ? [] : this.#axeFinds(rules);
  }

  async #axeFinds(rules: readonly string[] | undefined): Promise<string[]> {
    if (await this.page.evaluate<boolean>("typeof axe === 'undefined'")) await this.#addAxe();
    // What nobody reads here costs half of its time: selectors, and all that is in order.
    const options = { resultTypes: ['violations'], selectors: false, ...(rules && { runOnly: { type: 'rule', values: rules } }) };
    return this.page.evaluate<string[]>(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => \`\${id}: \${nodes.map(({ html }) => html).join(" | ")}\`))`,
    );
  }

  /** What axe finds on the page now, in light and in dark. */
  async violationsInBothThemes(): Promise<string[]> {
    await this.page.emulateMedia({ colorScheme: 'light' });
    const found = (await this.accessibilityViolations()).map((what) => `light: ${what}`);
    await this.page.emulateMedia({ colorScheme: 'dark' });
    return [...found, ...(await this.accessibilityViolations(RULES_OF_COLOURS)).map((what) => `dark: ${what}`)];
  }

  /** What axe finds on the page now: in light and dark at its width, and as narrow as a phone. */
  async violationsWideAndOnAPhone(): Promise<string[]> {
    const wide = this.page.viewportSize()!;
    const found = await this.violationsInBothThemes();
    await this.page.setViewportSize(PHONE);
    found.push(...(await this.accessibilityViolations()).map((what) => `on a phone: ${what}`));
    await this.page.setViewportSize(wide);
    return found;
  }

  async #addAxe(): Promise<void> {
    // Through the debugger: the page's policy allows no inline script.
    const session = await this.context.newCDPSession(this.page);
    await session.send('Runtime.evaluate', { expression: axe });
    await session.detach();
  }

  /** Answers that the test asked for, such as a 404, are no complaint. */
  forgiveFailedRequests(): void {
    this.complaints = this.complaints.filter((text) => !text.startsWith('Failed to load resource'));
  }

  /** Closes the browser's window and fails when it complained. */
  async end(): Promise<void> {
    // A request that a test has taken may be on its way.
    for (const page of this.context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.context.close();
    expect(this.complaints).toEqual([]);
  }

  #listen(page: Page): void {
    page.on('console', (message) => {
      // Other tests make interfaces of networks, for which Chromium breaks off the requests of all its pages.
      if (message.type() === 'error' && !message.text().includes('ERR_NETWORK_CHANGED')) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== this.origin) this.complaints.push(request.url());
    });
  }
}
