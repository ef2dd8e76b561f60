import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { PASSWORD } from '../../harness/identity/sign-in.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/** A person without a mouse: Tab, arrows, Space, Enter and letters, and the focus is never lost. */

/** More elements than any page has between two that belong together. */
const MOST_TABS = 60;

/** The page finds what shall have the focus within two frames, milliseconds with patience for a busy machine. */
const FOUND_MS = 2000;

/** Runs in the page: what has the focus, and whether a person sees that it has. The content of a page has it without a sign, as its start. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
  // A box around its field may show the sign in its place.
  const shows = (one) => one !== null && (getComputedStyle(one).outlineStyle !== 'none' || getComputedStyle(one).boxShadow !== 'none');
  const isSeen = element.id === 'page' || (element.matches(':focus-visible') && (shows(element) || shows(element.closest('label'))));
  return { tag: element.tagName, name: name.trim().split('\\n')[0], isSeen, html: element.outerHTML.slice(0, 160) };
})()`;

interface Focused {
  tag: string;
  name: string;
  isSeen: boolean;
  html: string;
}

class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(key: string): Promise<Focused> {
    await this.#page.keyboard.press(key);
    return this.focused();
  }

  /** @throws when nothing has the focus, or nobody can see what has */
  async focused(): Promise<Focused> {
    const found = await waitUntil(
      'something has the focus',
      async () => {
        const { tag, ...rest } = await this.#page.evaluate<Focused>(FOCUSED);
        return tag === 'BODY' ? undefined : { tag, ...rest };
      },
      FOUND_MS,
    );
    expect(found.isSeen, `the focus is not seen on ${found.html}`).toBe(true);
    return found;
  }

  /** Goes on with Tab until an element of this name has the focus. */
  async tabTo(name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = [];
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      const { name: now } = await this.press(key);
      if (typeof name === 'string' ? now === name : name.test(now)) return;
      passed.push(now);
    }
    throw new Error(`${key} does not lead to ${String(name)}: ${passed.join(' | ')}`);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
    await this.focused();
  }
}

describe.skipIf(isChromiumMissing)('by keyboard alone', () => {
  let world: World;
  let browser: Browser;

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}, {}] });
    await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it('a person signs in, finds a router, runs a command, queues a job, and opens and closes a forward', async () => {
    const visit = await Visit.start(browser, world);
    const { page } = visit;
    const keyboard = new Keyboard(page);
    const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

    await page.goto(`${visit.origin}/routers?sort=identity`);
    await page.getByLabel('Email address').waitFor();
    await page.getByLabel('Email address').focus();
    await page.keyboard.type('operator@example.org');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('2 of 2').waitFor();

    await page.keyboard.press('Tab');
    await keyboard.tabTo('Filter');
    await keyboard.type('router-1');
    await page.getByText('1 of 2').waitFor();
    while (!(await keyboard.press('Tab')).html.includes('data-id'));
    await keyboard.press('Enter');
    await heading('router-1');
    await keyboard.focused();

    await keyboard.tabTo('Run', 'Shift+Tab');
    await keyboard.press('Enter');
    await heading('Run on routers');
    await keyboard.tabTo('Filter');
    await keyboard.type('router-1');
    await heading('Run on router-1');
    await keyboard.tabTo('Command');
    await keyboard.tabTo('Command');
    await keyboard.type('/system/identity/print');
    await keyboard.press('Enter');
    await page.getByRole('cell', { name: 'router-1' }).waitFor();
    await keyboard.focused();

    await keyboard.tabTo('Script', 'Shift+Tab');
    await keyboard.press('Enter');
    await keyboard.tabTo('What it does');
    await keyboard.type('By keyboard');
    await keyboard.tabTo('Script');
    await keyboard.type(':put hello');
    await keyboard.tabTo('Take a backup first');
    await keyboard.press('Space');
    await keyboard.tabTo('Run the script');
    await keyboard.press('Enter');
    await heading(/By keyboard.*Done/);
    await keyboard.focused();

    await keyboard.tabTo('Forwards', 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByText('No forwards are open').waitFor();
    await keyboard.tabTo('Open a forward');
    await keyboard.press('Enter');
    await heading('Open a forward');
    await keyboard.focused();
    await keyboard.tabTo('Behind which router');
    await keyboard.type('router-1');
    await keyboard.tabTo('router-1');
    await keyboard.press('Enter');
    await heading('Open a forward behind router-1');
    await keyboard.focused();
    await keyboard.tabTo('Address');
    await keyboard.type('127.0.0.1');
    await keyboard.tabTo('Port');
    await keyboard.type(String(world.simulators[1]!.sshPort));
    const from = page.getByLabel('Allow from');
    await waitUntil('the own address is filled in', async () => (await from.inputValue()) === '127.0.0.1');
    await keyboard.tabTo('Open the forward');
    await keyboard.press('Enter');
    await heading(/Open\. It admits 127\.0\.0\.1\/32/);
    await keyboard.focused();
    await keyboard.tabTo('Close it now');
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Close it now' }).waitFor();
    await keyboard.tabTo('Close it now');
    expect(await dialog.locator(':focus').count()).toBe(1);
    await keyboard.press('Enter');
    await heading(/Ended: closed by hand/);
    await dialog.waitFor({ state: 'detached' });
    await keyboard.focused();
    await visit.end();
  });
});
