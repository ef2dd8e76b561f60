import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import type { World } from '../../harness/world.ts';

/** The page of one router: its story and its parts. */

const TABS = ['tunnel', 'jobs', 'forwards', 'faults', 'devices', 'health'];

describe.skipIf(isChromiumMissing)('the page of a router', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let ids: string[];

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}, {}] });
    ids = await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
  });
  afterEach(() => visit.end());

  it('writes the reason of a break at the rail, says what to look at, and shows the return', async () => {
    const { page } = visit;
    await visit.signIn('operator', `/routers/${ids[0]}`);
    await page.getByText('The router has answered since').waitFor();
    await world.agent!.close();
    await page.getByText('Its agent has been away since').waitFor();
    await page.getByText('The agent was stopped or restarted by somebody on its machine.').waitFor();
    const breaks = page.getByRole('table', { name: 'Breaks of agent and router' });
    await breaks.getByRole('cell', { name: /agent stopped, still/ }).waitFor();
    await breaks.getByRole('cell', { name: /not asked, agent away/ }).waitFor();
    await world.startAgent();
    await page.getByText('The router has answered since').waitFor();
    await breaks.getByRole('cell', { name: /agent stopped, still/ }).waitFor({ state: 'detached' });
    await breaks.getByRole('cell', { name: /agent stopped, \d+ s/ }).waitFor();
  });

  it('keeps the time that is shown in the address', async () => {
    const { page } = visit;
    await visit.signIn('viewer', `/routers/${ids[0]}`);
    await page.getByRole('button', { name: '7 d' }).click();
    await page.getByRole('button', { name: '7 d', pressed: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('span')).toBe('7d');
    await page.getByRole('navigation', { name: 'Parts of this router' }).getByRole('link', { name: 'Tunnel' }).click();
    await page.getByRole('button', { name: '7 d', pressed: true }).waitFor();
  });

  it('goes to the next router of the filter and back by keyboard', async () => {
    const { page } = visit;
    await visit.signIn('viewer', `/routers?q=router&sort=identity`);
    await page.getByRole('link', { name: 'router-0' }).click();
    await page.getByText('1 of 2').waitFor();
    await page.keyboard.press(']');
    await page.getByRole('heading', { name: 'router-1' }).waitFor();
    await page.getByText('2 of 2').waitFor();
    await page.keyboard.press('[');
    await page.getByRole('heading', { name: 'router-0' }).waitFor();
  });

  it.each(['viewer', 'operator'] as const)('says on every part of it that there is no such router, to a %s', async (role) => {
    await visit.signIn(role);
    for (const id of ['xyz', '00000000-0000-4000-8000-000000000000'])
      for (const tab of ['jobs', 'backups', 'terminal']) {
        await visit.goto(`/routers/${id}/${tab}`);
        await visit.page.getByRole('heading', { name: 'Your team has no such router' }).waitFor();
        expect(await visit.page.getByText('removed router').count()).toBe(0);
      }
    visit.forgiveFailedRequests();
  });

  it('lists the sessions of its agent, and its devices only', async () => {
    const { page } = visit;
    await visit.signIn('viewer', `/routers/${ids[0]}/tunnel`);
    await page.getByRole('table', { name: 'Sessions of the agent' }).getByText('still open', { exact: true }).waitFor();
    const asked = page.waitForRequest((request) => request.url().includes(`router_id=${ids[0]}`));
    await visit.goto(`/routers/${ids[0]}/devices`);
    await asked;
  });

  it('tells the address that the agent dials from the one that both are seen from', async () => {
    await visit.signIn('viewer', `/routers/${ids[0]}`);
    const fact = (name: string) => visit.page.locator('.fact', { has: visit.page.getByText(name, { exact: true }) }).locator('dd');
    const { last_seen_from: seenFrom } = (await world.caller.call<{ data: { last_seen_from: string } }>('GET', `/api/routers/${ids[0]}`))
      .body.data;
    expect(await fact('Dialled at').innerText()).toBe('127.0.0.1');
    expect(await fact('Seen from').innerText()).toBe(seenFrom);
    expect(await visit.page.getByText('Address', { exact: true }).count()).toBe(0);
  });

  it('shows a viewer no button that the server would refuse', async () => {
    await visit.signIn('viewer', `/routers/${ids[0]}`);
    await visit.page.getByText('The router has answered since').waitFor();
    expect(await visit.page.getByRole('link', { name: 'Run a command' }).count()).toBe(0);
    expect(await visit.page.getByRole('link', { name: 'Open a forward' }).count()).toBe(0);
  });

  it('has no violation that axe finds, wide in light and dark, and on a phone', async () => {
    const { page } = visit;
    await visit.signIn('admin', `/routers/${ids[0]}`);
    for (const tab of ['', ...TABS.map((name) => `/${name}`)]) {
      await visit.goto(`/routers/${ids[0]}${tab}`);
      await page.getByRole('status', { name: 'Reading' }).waitFor({ state: 'detached' });
      expect(await visit.violationsWideAndOnAPhone(), tab).toEqual([]);
    }
  });
});
