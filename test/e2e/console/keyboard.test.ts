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

/** Runs in the page: what has the focus, and whether a person sees that it has. The content of a page or of a question has it without a sign, as its start. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
  // A box around its field may show the sign in its place. Of a field whose hour has the focus, Chromium says that it has none.
  const shows = (one) => one !== null && (getComputedStyle(one).outlineStyle !== 'none' || getComputedStyle(one).boxShadow !== 'none');
  const isSeen = element.id === 'page' || element.role === 'dialog' || (element.matches(':focus-visible, input:is([type=time], [type=datetime-local]):focus-within') && (shows(element) || shows(element.closest('label'))));
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

  it('comes back to the record whose row was out of the page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      const name = `Depot ${String(index).padStart(2, '0')}`;
      ids.push((await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name })).body.data.id);
    }
    const visit = await Visit.start(browser, world);
    const { page } = visit;
    await visit.signIn('viewer', '/sites');
    const first = page.getByRole('link', { name: 'Depot 00' });
    await first.focus();
    const scrollTo = (place: string): Promise<unknown> => page.evaluate(`document.querySelector('.gbody').scrollTop = ${place}`);
    await scrollTo('1e6');
    await first.waitFor({ state: 'detached' });
    await page.locator('main:focus').waitFor();
    await scrollTo('0');
    await page.locator('a:focus', { hasText: 'Depot 00' }).waitFor();
    for (const id of ids) await world.caller.call('DELETE', `/api/sites/${id}`);
    await visit.end();
  });

  it('comes back to a button that was switched off while its answer was on the way', async () => {
    const visit = await Visit.start(browser, world);
    const { page } = visit;
    await visit.signIn('operator', '/run?routers=router-0&mode=script');
    await page.getByLabel('What it does').fill('It is refused');
    await page.getByRole('textbox', { name: 'Script' }).fill(':put never');
    const isAwaited = Promise.withResolvers<void>();
    await page.route('**/api/asynchronous/*', async (route) => {
      await isAwaited.promise;
      const body = JSON.stringify({ code: 'conflict', message: 'Not now' });
      await route.fulfill({ status: 409, contentType: 'application/problem+json', body });
    });
    const send = page.getByRole('button', { name: 'Run the script' });
    await send.focus();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    expect(await send.isDisabled()).toBe(true);
    isAwaited.resolve();
    await page.getByText('Not now').waitFor();
    await page.locator('button:focus', { hasText: 'Run the script' }).waitFor();
    visit.forgiveFailedRequests();
    await visit.end();
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

  it('a person says who is told of what and when, tests it, reads who was told and why, and silences a router', async () => {
    const visit = await Visit.start(browser, world);
    const { page } = visit;
    const keyboard = new Keyboard(page);
    const dialog = page.getByRole('dialog');
    const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
    /** The question is gone, and the focus is where it was asked, unless that is gone, too. */
    const closed = async (asker?: string): Promise<void> => {
      await dialog.waitFor({ state: 'detached' });
      const { name } = await keyboard.focused();
      if (asker !== undefined) expect(name).toBe(asker);
    };
    /** Opens the question behind a button, and waits for the first thing in it. */
    const ask = async (button: string | RegExp, first: string): Promise<void> => {
      await keyboard.tabTo(button);
      await keyboard.press('Enter');
      await dialog.getByLabel(first).first().waitFor();
    };
    /** To another part of the notifications. */
    const turnTo = async (name: string): Promise<void> => {
      await keyboard.tabTo(name, 'Shift+Tab');
      await keyboard.press('Enter');
      await heading(name);
      await keyboard.focused();
    };
    await visit.signIn('admin', '/notifications/topics');
    await page.keyboard.press('Tab');

    await ask('Make a topic', 'Name');
    await keyboard.tabTo('Name');
    await keyboard.type('Outages');
    await keyboard.tabTo('a router does not answer');
    await keyboard.press('Space');
    await keyboard.tabTo('Make the topic');
    await keyboard.press('Enter');
    await closed('Make a topic');
    await page.getByRole('cell', { name: 'Outages', exact: true }).waitFor();

    await keyboard.tabTo('Schedules', 'Shift+Tab');
    await keyboard.press('Enter');
    await heading('Schedules');
    await ask('Make a schedule', 'Name');
    await keyboard.tabTo('Name');
    await keyboard.type('Weekends');
    await keyboard.tabTo('saturday');
    await keyboard.press('Space');
    await keyboard.tabTo('Make the schedule');
    await keyboard.press('Enter');
    await closed('Make a schedule');
    await page.getByText('Mondays to Saturdays 08:00–18:00').waitFor();

    await turnTo('Groups');
    await ask('Make a group', 'Name');
    await keyboard.tabTo('Name');
    await keyboard.type('On call');
    await keyboard.tabTo(/^Outages/);
    // A new group begins with it.
    expect(await dialog.locator(':focus').isChecked()).toBe(true);
    await keyboard.tabTo('Make the group');
    await keyboard.press('Enter');
    await heading('On call');
    await keyboard.focused();
    await ask('Change people', 'Person');
    await keyboard.tabTo('Person');
    await keyboard.type('operator');
    await keyboard.tabTo('Add');
    await keyboard.press('Enter');
    await dialog.getByRole('listitem').filter({ hasText: 'operator@example.org' }).waitFor();
    await keyboard.tabTo('Save');
    await keyboard.press('Enter');
    await closed('Change people');
    await page.getByText('admin@example.org and operator@example.org would be told of Outages everywhere, at any time.').waitFor();
    await keyboard.tabTo('Send a test', 'Shift+Tab');
    await keyboard.press('Enter');
    await keyboard.tabTo('Send the test');
    await keyboard.press('Enter');
    await dialog.getByRole('list', { name: 'What became of the test' }).waitFor();
    await keyboard.tabTo('The thread of the test');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Who was told' }).waitFor();
    await keyboard.focused();

    await keyboard.tabTo('Threads');
    await keyboard.press('Enter');
    await heading('Threads');
    await keyboard.tabTo('All');
    await keyboard.press('Enter');
    await page.getByRole('table', { name: 'Threads' }).getByRole('link', { name: 'On call' }).waitFor();
    await turnTo('Log');
    await keyboard.tabTo(/^To\b/);
    await keyboard.type('operator');
    await page.getByText('1 message', { exact: true }).waitFor();
    await turnTo('Why');
    await keyboard.tabTo(/^at\b/);
    await keyboard.type('router-1');
    await page.getByRole('listitem').filter({ hasText: 'operator@example.org' }).getByText('is not told').waitFor();

    await keyboard.tabTo('Silences', 'Shift+Tab');
    await keyboard.press('Enter');
    await heading('Silences');
    await ask('Silence something', 'Router');
    await keyboard.tabTo('Router');
    await keyboard.type('router-0');
    await keyboard.tabTo('Why');
    await keyboard.type('Change of the core switch');
    await keyboard.tabTo('Silence it');
    await keyboard.press('Enter');
    await closed('Silence something');
    await page.getByText('silent now').waitFor();
    await keyboard.tabTo(/^End/);
    await keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'End it' }).waitFor();
    await keyboard.tabTo('End it');
    await keyboard.press('Enter');
    await closed();

    await keyboard.tabTo('Channels');
    await keyboard.press('Enter');
    await heading('Channels');
    await keyboard.focused();
    await ask('Add a channel', 'Kind');
    await keyboard.press('Escape');
    await closed('Add a channel');
    await visit.goto('/me/notifications');
    await page.keyboard.press('Tab');
    await ask('Add an address', 'Kind');
    await keyboard.press('Escape');
    await closed('Add an address');
    await keyboard.tabTo('Your time zone');
    await keyboard.type('Pacific/Auckland');
    await keyboard.tabTo(/^Quiet hours/);
    await keyboard.press('Space');
    await keyboard.tabTo('Save');
    await keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    await keyboard.focused();
    visit.forgiveFailedRequests();
    await visit.end();
  });
});
