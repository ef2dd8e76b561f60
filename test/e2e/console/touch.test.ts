import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/** A person with a phone: fingers instead of a mouse, as Chromium makes taps and scrolling of touches. */

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** So many that their cards do not fit on the screen. */
const ROUTERS = 12;
/** A finger is felt in so many places of its way. */
const SWIPE_STEPS = 8;
/** Where a list is after ten pictures of the screen: two looks at the same picture tell nothing. */
const FRAMES = '(async () => { for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame); })()';
const PLACE_AFTER_FRAMES = `(async () => {
  for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
  return document.querySelector('.gbody').scrollTop;
})()`;

describe.skipIf(isChromiumMissing)('on a phone, in Chromium', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let debuggerOfPage: CDPSession;
  let ids: string[];

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: Array.from({ length: ROUTERS }, () => ({})), terminal: 'read' });
    ids = await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world, PHONE);
    page = visit.page;
    debuggerOfPage = await visit.context.newCDPSession(page);
  });
  afterEach(() => visit.end());

  const nameOf = (index: number): Locator => page.getByRole('link', { name: `router-${index}`, exact: true });

  async function middleOf(element: Locator): Promise<{ x: number; y: number }> {
    const { x, y, width, height } = (await element.boundingBox())!;
    return { x: x + width / 2, y: y + height / 2 };
  }

  /** Moves a finger from the middle of this over the screen, as people scroll. */
  async function swipe(element: Locator, [right, down]: readonly [number, number]): Promise<void> {
    const { x, y } = await middleOf(element);
    await touch('touchStart', { x, y });
    for (let step = 1; step <= SWIPE_STEPS; step += 1)
      await touch('touchMove', { x: x + (right * step) / SWIPE_STEPS, y: y + (down * step) / SWIPE_STEPS });
    await touch('touchEnd');
  }

  async function touch(type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]): Promise<void> {
    await debuggerOfPage.send('Input.dispatchTouchEvent', { type, touchPoints });
  }

  /** How far this is scrolled, as soon as it stands still: lists run on a little after the finger. */
  async function placeOfRows(): Promise<number> {
    let before = -1;
    return waitUntil('the list stands still', async () => {
      const now = await page.evaluate<number>(PLACE_AFTER_FRAMES);
      const isStill = now === before;
      before = now;
      return isStill ? now : undefined;
    });
  }

  const createJob = async (description: string): Promise<void> => {
    const script = { description, script: ':put "done"', make_backup: false, express_execute: true, needs_acknowledgement: true };
    expect((await world.caller.call('POST', `/api/asynchronous/${ids[0]}`, script)).status).toBe(200);
  };

  it('opens a router by a tap, and comes back to the same place of the list', async () => {
    await visit.signIn('operator', '/routers?sort=identity');
    await nameOf(0).waitFor();
    const rows = page.locator('.gbody');
    await swipe(rows, [0, -220]);
    const place = await placeOfRows();
    expect(place).toBeGreaterThan(100);
    // A finger that scrolls neither opens nor selects what is below it.
    expect(new URL(page.url()).pathname).toBe('/routers');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await nameOf(6).tap();
    await page.getByRole('heading', { level: 1, name: 'router-6' }).waitFor();
    await page.goBack();
    await nameOf(6).waitFor();
    expect(await placeOfRows()).toBe(place);
  });

  it('goes to any record by a few letters', async () => {
    await visit.signIn('viewer', '/me');
    await page.getByRole('button', { name: 'Go to' }).tap();
    await page.getByPlaceholder('Go to a router').fill('router-11');
    await page
      .getByRole('button', { name: /router-11.*router/ })
      .first()
      .tap();
    await page.getByRole('heading', { level: 1, name: 'router-11' }).waitFor();
  });

  it('shows what is on the label of a device, and names it by a button that says so', async () => {
    await visit.signIn('operator', '/devices');
    const card = page.locator('[data-id]').first();
    await card.getByText(/([0-9A-F]{2}:){5}[0-9A-F]{2}, \d+\.\d+\.\d+\.\d+/i).waitFor();
    const button = card.getByRole('button', { name: /^Name / });
    const { height } = (await button.boundingBox())!;
    expect(height).toBeGreaterThanOrEqual(24);
    await button.tap();
    await page.getByRole('dialog').getByLabel('Name').fill('Weather station');
    await page.getByRole('button', { name: 'Save' }).tap();
    await page.getByRole('table', { name: 'Devices' }).getByText('Weather station').first().waitFor();
  });

  it('shows a viewer the devices without a button', async () => {
    await visit.signIn('viewer', '/devices');
    await page.locator('[data-id]').first().waitFor();
    expect(await page.getByRole('table', { name: 'Devices' }).getByRole('button').count()).toBe(0);
  });

  it('selects by taps, and takes the selection to a command', async () => {
    await visit.signIn('operator', '/routers?sort=identity');
    await page.getByRole('checkbox', { name: 'Select router-0' }).tap();
    await page.getByRole('checkbox', { name: 'Select router-1', exact: true }).tap();
    await page.getByRole('link', { name: /command/i }).tap();
    await page.getByRole('combobox', { name: 'Command' }).waitFor();
    await page.getByText('router-1', { exact: true }).first().waitFor();
  });

  it('takes a command from the list by a tap, and runs nothing that lies below the list', async () => {
    await visit.signIn('operator', `/run?routers=${ids[0]}`);
    const box = page.getByRole('combobox', { name: 'Command' });
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/api/')) sent.push(request.url());
    });
    await box.fill('/ip address');
    const options = page.getByRole('option');
    await options.nth(1).waitFor();
    const run = await middleOf(page.getByRole('button', { name: 'Run', exact: true }));
    const boxes = await Promise.all((await options.all()).map(async (option) => ({ option, box: (await option.boundingBox())! })));
    const above = boxes.find(({ box: { y, height } }) => run.y >= y && run.y <= y + height);
    const taken = above?.option ?? options.nth(1);
    const text = (await taken.innerText()).trim();
    await taken.tap();
    await waitUntil('the box has the command', async () => (await box.inputValue()).trim() === text);
    await page.evaluate(FRAMES);
    expect(sent).toEqual([]);
    expect(await page.evaluate<string>('document.activeElement.role')).toBe('combobox');
  });

  it('opens what was under the finger when it touched the screen, although a row comes above it meanwhile', async () => {
    await createJob('the one that was meant');
    await visit.signIn('viewer', '/jobs');
    const meant = page.getByRole('link', { name: 'the one that was meant' });
    await meant.waitFor();
    // Nothing more changes by itself.
    await page.getByRole('row').filter({ has: meant }).getByText('done').waitFor();
    await touch('touchStart', await middleOf(meant));
    const news = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/jobs');
    await createJob('a newer one');
    await (await news).finished();
    await touch('touchEnd');
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'the one that was meant' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'a newer one' }).waitFor();
  });

  it('moves the tabs of a router sideways with a finger, and the page stays where it is', async () => {
    await visit.signIn('viewer', `/routers/${ids[0]}`);
    const tabs = page.getByRole('navigation', { name: 'Parts of this router' });
    const last = tabs.getByRole('link', { name: 'Health' });
    await last.waitFor();
    await waitUntil('the last tab is in sight', async () => {
      await swipe(tabs, [-180, 0]);
      const { x, width } = (await last.boundingBox())!;
      return x + width <= PHONE.viewport.width;
    });
    expect(await page.evaluate<number>('document.scrollingElement.scrollLeft')).toBe(0);
    await last.tap();
    await page.waitForURL('**/health');
  });

  it('has the keys in a terminal that a phone lacks', async () => {
    await visit.signIn('operator', `/routers/${ids[0]}/terminal`);
    await page.getByLabel('Reason').fill('on the road');
    await page.getByRole('button', { name: 'Open the terminal' }).tap();
    const screen = page.frameLocator('iframe.terminal-screen').locator('.xterm-rows');
    const key = (name: string) => page.getByRole('group', { name: 'Keys' }).getByRole('button', { name, exact: true });
    await screen.getByText('] >').first().waitFor();
    await page.keyboard.type(':put "once"\n');
    await screen.getByText('once', { exact: true }).first().waitFor();
    await key('Up').tap();
    await screen.getByText('] > :put "once"').nth(1).waitFor();
    await key('Ctrl C').tap();
    // The tap took the keyboard from the terminal, which takes it back.
    await expect.poll(() => page.evaluate<string>('document.activeElement.tagName')).toBe('IFRAME');
    await screen.getByText('] >', { exact: true }).last().waitFor();
    await page.keyboard.type(':put "after"\n');
    await screen.getByText('after', { exact: true }).first().waitFor();
    expect((await key('Tab').boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await page.getByRole('button', { name: 'End the terminal' }).tap();
    await page.getByText('The terminal has ended').waitFor();
  });
});
