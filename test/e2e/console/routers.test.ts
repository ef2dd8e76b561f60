import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { PHONE, Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import { seedManyRouters } from '../../harness/many-routers.ts';
import { silentLog } from '../../harness/silent-log.ts';
import type { World } from '../../harness/world.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';

/** The list of routers: filter, saved views, columns, selection, keyboard, phone. */

describe.skipIf(isChromiumMissing)('the list of routers', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}, {}, {}] });
    await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
  });
  afterEach(() => visit.end());

  const rowOf = (index: number) => page.getByRole('row').filter({ has: page.getByRole('link', { name: `router-${index}` }) });

  it('shows each word of the filter, and takes it out again', async () => {
    await visit.signIn('viewer', '/routers?q=state:answering+router-1');
    await page.getByText('1 of 3').waitFor();
    await page.getByRole('button', { name: 'Without text router-1' }).click();
    await page.getByText('3 of 3').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('state:answering');
  });

  it('takes what an address has wrong as missing', async () => {
    await visit.signIn('viewer', '/routers?sort=__proto__');
    await page.getByText('3 of 3').waitFor();
    await visit.goto('/agents?sort=constructor');
    await page.getByRole('heading', { name: /^Agents/ }).waitFor();
    const [id] = await world.routerIds();
    await visit.goto(`/routers/${id}?span=constructor`);
    await page.getByRole('figure', { name: /^Agent and router, from/ }).waitFor();
    await visit.goto('/notifications/log?state=nonsense');
    await page.getByText('Nothing has happened that a group is told of.').waitFor();
  });

  it('keeps a view with its filter, order and columns as a tab, and removes it', async () => {
    await visit.signIn('operator', '/routers?q=router-2&sort=identity');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Model' }).uncheck();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('columnheader', { name: 'Model' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Only the third');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const tabs = page.getByRole('navigation', { name: 'Views' });
    await tabs.getByRole('link', { name: 'All 3' }).click();
    await page.getByText('3 of 3').waitFor();
    await tabs.getByRole('link', { name: 'Only the third 1' }).click();
    await page.getByText('1 of 3').waitFor();
    expect(await page.getByRole('columnheader', { name: 'Model' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the view Only the third' }).click();
    await page.getByRole('button', { name: 'Remove the view', exact: true }).click();
    await tabs.getByRole('link', { name: 'Only the third' }).waitFor({ state: 'detached' });
  });

  it('opens with the view that the person has chosen, in every browser, until it is removed', async () => {
    const query = { q: 'router-2', sort: 'identity' };
    const saved = await world.caller.call<{ data: { id: string } }>('POST', '/api/views', {
      list: 'routers',
      name: 'Two',
      query,
      shared: true,
    });
    const routers = () => page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Routers' });
    await visit.signIn('viewer', '/me');
    await page.getByRole('combobox', { name: 'Routers opens with' }).selectOption({ label: 'Two, of the team' });
    await page.getByText('Kept for you in every browser').waitFor();
    await routers().click();
    await page.getByText('1 of 3').waitFor();
    expect(new URL(page.url()).search).toBe('?q=router-2&sort=identity');
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'All 3' }).click();
    await page.getByText('3 of 3').waitFor();
    const elsewhere = await Visit.start(browser, world);
    await elsewhere.signIn('viewer', '/');
    await elsewhere.page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Routers' }).click();
    await elsewhere.page.getByText('1 of 3').waitFor();
    await elsewhere.end();
    await world.caller.call('DELETE', `/api/views/${saved.body.data.id}`);
    await page.reload();
    await routers().click();
    await page.getByText('3 of 3').waitFor();
  });

  it('selects what the filter finds, and says how many answer', async () => {
    await visit.signIn('operator', '/routers?q=router');
    await page.getByRole('checkbox', { name: 'Select all 3 routers of this view' }).check();
    const held = page.getByRole('region', { name: 'Selection' });
    await held.getByText('All 3 selected').waitFor();
    await held.getByText('3 answer now. The list is fixed when you go on.').waitFor();
    const named = (await world.routerIds()).toSorted().join();
    const href = (await held.getByRole('link', { name: 'Run command' }).getAttribute('href'))!;
    expect(href.slice('/run?routers='.length).split(',').toSorted().join()).toBe(named);
    await page.getByRole('checkbox', { name: 'Select router-0' }).uncheck();
    await held.getByText('2 selected').waitFor();
    expect(await held.getByRole('link', { name: 'Run command' }).getAttribute('href')).toContain('/run?routers=');
    await held.getByRole('button', { name: 'Clear' }).click();
    await held.waitFor({ state: 'detached' });
  });

  it('shows that nothing is selected when the filter finds no router that is', async () => {
    await visit.signIn('operator', '/routers');
    const isHalf = async () => (await page.locator('input:indeterminate').count()) === 1;
    for (const index of [0, 1]) await page.getByRole('checkbox', { name: `Select router-${index}` }).check();
    expect(await isHalf()).toBe(true);
    await page.getByRole('searchbox').fill('router-2');
    await page.getByText('1 of 3').waitFor();
    expect(await isHalf()).toBe(false);
  });

  it('keeps every view and what takes a word out of the filter in sight, however long their names are', async () => {
    const long = 'a'.repeat(100);
    const saved = await world.caller.call<{ data: { id: string } }>('POST', '/api/views', {
      list: 'routers',
      name: long,
      query: { q: 'router-1' },
      shared: true,
    });
    const site = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: long });
    const end = async (locator: Locator): Promise<number> => {
      const { x, width } = (await locator.boundingBox())!;
      return x + width;
    };
    try {
      await visit.signIn('admin', `/routers?q=${long}`);
      const { width } = page.viewportSize()!;
      expect(await end(page.getByRole('link', { name: long }))).toBeLessThan(700);
      await page.setViewportSize(PHONE);
      expect(await end(page.getByRole('button', { name: `Without text ${long}` }))).toBeLessThanOrEqual(PHONE.width);
      await page.setViewportSize({ width, height: 900 });
      await visit.goto(`/sites/${site.body.data.id}`);
      expect(await end(page.getByRole('button', { name: 'Change' }))).toBeLessThanOrEqual(width);
    } finally {
      await world.caller.call('DELETE', `/api/views/${saved.body.data.id}`);
      await world.caller.call('DELETE', `/api/sites/${site.body.data.id}`);
    }
  });

  it('prints all routers that it finds in light colours, and nothing that stands around them', async () => {
    const storage = await openStorage(world.databaseUrl, { log: silentLog });
    try {
      const { teamId } = await seedManyRouters(storage, 120);
      await addUser(world, 'paper@example.org', 'viewer', teamId);
    } finally {
      await storage.close();
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await visit.signInAs('paper@example.org', '/routers');
    await page.getByText('120 of 120').waitFor();
    const drawn = await page.getByRole('row').count();
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(2);
    await expect.poll(() => page.getByRole('row').count()).toBe(drawn);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation', { name: 'Places' }).isVisible()).toBe(false);
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
  });

  it('takes a selection of many with it as it was: neither a router that the filter finds later nor a reload changes it', async () => {
    const storage = await openStorage(world.databaseUrl, { log: silentLog });
    try {
      const { teamId, routers } = await seedManyRouters(storage, 120);
      await addUser(world, 'many@example.org', 'operator', teamId);
      // The last one gets a name that the filter finds when the selection has been made.
      const rename = (identity: string) =>
        storage.db.updateTable('routers').set({ identity }).where('id', '=', routers[119]!).where('team_id', '=', teamId).execute();
      await rename('another');
      await visit.signInAs('many@example.org', '/routers?q=gw');
      await page.getByRole('checkbox', { name: 'Select all 119 routers of this view' }).check();
      await page.getByRole('link', { name: 'Run script' }).click();
      await page.getByRole('heading', { name: 'New campaign on 119 routers' }).waitFor();
      await rename('gw-late');
      // A router that the page does not know makes it read the list.
      const read = page.waitForResponse((answer) => answer.url().includes('/api/routers?'));
      const data = { router_id: crypto.randomUUID(), state: 'never_seen', state_since: null, state_reason: null };
      world.server.services.events.publish({ teamId, type: 'router.changed', data });
      await (await read).finished();
      await page.getByRole('heading', { name: 'New campaign on 119 routers' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'New campaign on 119 routers' }).waitFor();
      // The address alone has the filter, and says that it was another list.
      const { pathname, search } = new URL(page.url());
      const second = await visit.newTab(pathname + search);
      await second.getByText('119 routers were selected').waitFor();
    } finally {
      await storage.close();
    }
  });

  it('moves the selected routers to a site', async () => {
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'Main street' });
    await visit.signIn('admin', '/routers?sort=identity');
    await page.getByRole('checkbox', { name: 'Select router-1' }).check();
    await page.getByRole('button', { name: 'Move to a site' }).click();
    await page.getByRole('combobox', { name: 'Site' }).selectOption(body.data.id);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('router-1').waitFor();
    await dialog.getByText('1 of 1 answers now').waitFor();
    const keys: (string | undefined)[] = [];
    await page.route(
      '**/api/routers/*',
      async (route) => {
        keys.push(route.request().headers()['idempotency-key']);
        // It is done, and every answer is lost: the page asks four times by itself.
        if (keys.length === 1) await route.fetch();
        await (keys.length <= 4 ? route.abort() : route.continue());
      },
      { times: 5 },
    );
    await page.getByRole('button', { name: 'Move the router' }).click();
    await dialog.getByText('it may have been done, the answer was lost').waitFor();
    visit.forgiveFailedRequests();
    await dialog.getByRole('button', { name: 'Look again' }).click();
    await page.getByText('1 of 1 done.').waitFor();
    expect(keys).toEqual(Array.from({ length: 5 }, () => keys[0]));
    await page.getByRole('button', { name: 'Close' }).last().click();
    await rowOf(1).getByText('Main street').waitFor();
    await page.getByRole('searchbox').fill('site:"Main street"');
    await page.getByText('1 of 3').waitFor();
  });

  it('sends nothing more when somebody leaves the page while many are moved', async () => {
    await visit.signIn('admin', '/');
    await page.getByRole('navigation').getByRole('link', { name: 'Routers' }).click();
    await page.getByRole('checkbox', { name: 'Select all 3 routers' }).check();
    await page.getByRole('button', { name: 'Move to a site' }).click();
    const held = Promise.withResolvers<void>();
    let asked = 0;
    await page.route('**/api/routers/*', async (route) => {
      asked += 1;
      await held.promise;
      await route.continue();
    });
    const answered = page.waitForResponse(/\/api\/routers\//);
    await page.getByRole('button', { name: 'Move 3 routers' }).click();
    await expect.poll(() => asked).toBe(1);
    await page.goBack();
    await page
      .getByRole('heading', { name: /answer/ })
      .first()
      .waitFor();
    held.resolve();
    await answered;
    // The next one would be sent with the answer of the first.
    await page.getByRole('navigation').getByRole('link', { name: 'Sites' }).click();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(asked).toBe(1);
  });

  it('is used by keyboard alone: arrows, Space, Enter, and Back to the same row', async () => {
    await visit.signIn('operator', '/routers?sort=identity');
    await rowOf(0).focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('[data-id]:focus').filter({ hasText: 'router-1' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'router-1' }).waitFor();
    await page.getByText('2 of 3').waitFor();
    await page.goBack();
    await page.getByText('3 of 3').waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('identity');
  });

  it('reads the last 24 hours of the rows in sight with one request', async () => {
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/availability')) asked.push(request.url());
    });
    const answered = page.waitForResponse((response) => response.url().includes('/api/availability'));
    await visit.signIn('viewer', '/routers');
    expect((await answered).status()).toBe(200);
    await rowOf(0).locator('.rails .rail-bed').waitFor();
    expect(asked).toHaveLength(1);
    for (const id of await world.routerIds()) expect(decodeURIComponent(asked[0]!)).toContain(id);
  });

  it('gives a viewer nothing to select', async () => {
    await visit.signIn('viewer', '/routers');
    await rowOf(0).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });

  it('has no violation that axe finds, wide in light and dark, and on a phone', async () => {
    await visit.signIn('operator', '/routers?q=state:answering');
    await page.getByRole('checkbox', { name: 'Select router-0' }).check();
    await page.getByText('1 selected').waitFor();
    expect(await visit.violationsWideAndOnAPhone()).toEqual([]);
  });
});
