import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import type { World } from '../../harness/world.ts';

/** Now, agents, sites, map, faults, devices, and the palette. */

describe.skipIf(isChromiumMissing)('pages of the fleet', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let siteId: string;

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}, {}] });
    const [first] = await world.routerIds();
    const site = { name: 'Liepaja port', latitude: 56.51, longitude: 21.01, time_zone: 'Europe/Riga' };
    siteId = (await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', site)).body.data.id;
    await world.caller.call('PATCH', `/api/routers/${first}`, { site_id: siteId });
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

  it('says what is to be handled, grouped by the agent that is away, with the board and the last events', async () => {
    await visit.signIn('operator');
    await page.getByText('Nothing. Every router that was ever seen answers.').waitFor();
    await page.getByRole('link', { name: 'Liepaja port' }).waitFor();
    await world.agent!.close();
    const { agent_name: agent } = (await world.caller.call<{ data: { agent_name: string }[] }>('GET', '/api/routers')).body.data[0]!;
    await page.getByText(`agent ${agent}`, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All 2 routers' }).waitFor();
    await page.getByText('1 of 1 agent away').waitFor();
    await page.getByText('agent away, agent stopped').first().waitFor();
    await world.startAgent();
    await page.getByText('Nothing. Every router that was ever seen answers.').waitFor();
  });

  it('calls the routers of an agent as all pages do, beside their names in agent.yaml, and says how one that is away is started', async () => {
    const { id, agent_id: agentId } = (
      await world.caller.call<{ data: { id: string; agent_id: string; identity: string }[] }>('GET', '/api/routers')
    ).body.data.find(({ identity }) => identity === 'router-1')!;
    const rename = (identity: string) =>
      world.caller.call('POST', `/api/synchronous/${id}`, { command: '/system/identity/set', parameters: `name=${identity}` });
    await visit.signIn('admin', `/agents/${agentId}`);
    expect((await rename('bergen-gw')).status).toBe(200);
    const line = page.locator('.agent-router', { has: page.getByRole('link', { name: 'bergen-gw' }) });
    await expect.poll(async () => (await line.count()) === 1 && (await line.innerText()), { timeout: 60_000 }).toContain('router-1');
    expect((await rename('router-1')).status).toBe(200);
    await page.getByRole('link', { name: 'router-1' }).waitFor();
    await world.agent!.close();
    await page.getByText('sudo systemctl start signalbox-agent').waitFor();
    await world.startAgent();
    await page.getByText('Connected since').waitFor();
  });

  it('shows an agent with its line, sessions and routers; only an admin may revoke it, after typing its name', async () => {
    await visit.signIn('admin', '/agents');
    await page.getByText('The agent is connected.').waitFor();
    await page.getByRole('row').getByRole('link').first().click();
    await page.getByText('Connected since').waitFor();
    await page.getByRole('table', { name: 'Sessions of the agent' }).getByText('still open', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'router-0' }).waitFor();
    expect(await page.getByText('sudo systemctl start signalbox-agent').count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke this agent' }).click();
    expect(await page.getByRole('button', { name: 'Revoke the agent' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  it('shows new sites and new names of sites and agents as soon as somebody else has given them', async () => {
    const change = async (method: string, path: string, content: object): Promise<string | undefined> => {
      const answer = await world.caller.call<{ data?: { id?: string } }>(method, path, content);
      expect(answer.status).toBe(200);
      return answer.body.data?.id;
    };
    const { body } = await world.caller.call<{ data: { id: string; name: string }[] }>('GET', '/api/agents');
    const { id, name } = body.data[0]!;
    await visit.signIn('viewer', '/agents');
    await page.getByRole('link', { name }).waitFor();
    await change('PATCH', `/api/agents/${id}`, { name: 'riga-dc-1' });
    await page.getByRole('link', { name: 'riga-dc-1' }).waitFor();
    await visit.goto('/routers?q=agent:riga-dc-1');
    await page.getByText('2 of 2').waitFor();
    await change('PATCH', `/api/agents/${id}`, { name });
    await page.getByText('0 of 2').waitFor();

    await visit.goto('/sites');
    await page.getByRole('link', { name: 'Liepaja port' }).waitFor();
    const made = await change('POST', '/api/sites', { name: 'Ventspils' });
    await page.getByRole('link', { name: 'Ventspils' }).waitFor();
    await change('PATCH', `/api/sites/${siteId}`, { name: 'Port of Liepaja' });
    await page.getByRole('link', { name: 'Port of Liepaja' }).waitFor();
    await change('PATCH', `/api/sites/${siteId}`, { name: 'Liepaja port' });
    await world.caller.call('DELETE', `/api/sites/${made}`);
    await page.getByRole('link', { name: 'Ventspils' }).waitFor({ state: 'detached' });
  });

  it('leaves nothing of a record that somebody else removes, and leads back to the others', async () => {
    const made = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'Kuldiga' });
    await visit.signIn('viewer', `/sites/${made.body.data.id}`);
    await page.getByRole('heading', { name: 'Kuldiga' }).waitFor();
    await world.caller.call('DELETE', `/api/sites/${made.body.data.id}`);
    await page.getByRole('heading', { name: 'Your team has no such site' }).waitFor();
    expect(await page.getByRole('main').getByText('Kuldiga').count()).toBe(0);
    await page.getByRole('main').getByRole('link', { name: 'Sites' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor();
    visit.forgiveFailedRequests();
  });

  it.each(['/sites', '/devices', '/agents'])(
    'writes a filter to the address when the typing pauses, not at each letter (%s)',
    async (path) => {
      await visit.signIn('viewer', path);
      // Chromium refuses an address that is written too often.
      await page.evaluate(`(() => {
      const write = history.replaceState.bind(history);
      globalThis.written = 0;
      history.replaceState = (...all) => {
        globalThis.written += 1;
        write(...all);
      };
    })()`);
      await page.getByLabel('Filter').focus();
      await page.keyboard.type('liepaja port of latvia');
      await expect.poll(() => new URL(page.url()).search).toBe('?q=liepaja+port+of+latvia');
      expect(await page.evaluate<number>('written')).toBeLessThan(10);
    },
  );

  it('lists a device that is behind two routers without a site once for each, and nothing else once it is filtered', async () => {
    const at = new Date().toISOString();
    const device = (mac: string, routerId: string, hostname: string) => ({
      mac_address: mac,
      hostname,
      router_id: routerId,
      site_id: null,
      alias: null,
      manufacturer: null,
      locally_administered: false,
      current_ip: null,
      first_seen_at: at,
      last_seen_at: at,
    });
    const [first, second] = await world.routerIds();
    const both = [first, second].map((id) => device('02:00:00:00:00:01', id!, 'samsung-tv'));
    const all = [device('02:00:00:00:00:02', first!, 'printer'), ...both, device('02:00:00:00:00:03', second!, 'camera')];
    await page.route('**/arp/devices?*', (route) =>
      route.fulfill({ json: { success: true, data: route.request().url().includes('search=') ? both : all } }),
    );
    await visit.signIn('viewer', '/devices');
    const names = async () =>
      (await page.locator('.gbody [role=row]').allInnerTexts()).map((text) => /samsung-tv|printer|camera/.exec(text)?.[0]);
    await expect.poll(names).toEqual(['printer', 'samsung-tv', 'samsung-tv', 'camera']);
    await page.getByLabel('Filter').fill('samsung');
    await expect.poll(names).toEqual(['samsung-tv', 'samsung-tv']);
    await page.getByLabel('Filter').fill('');
    await expect.poll(names).toEqual(['printer', 'samsung-tv', 'samsung-tv', 'camera']);
  });

  it('asks for no availability where there are no routers', async () => {
    const made = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'Empty hall' });
    const asked: string[] = [];
    page.on('request', (request) => void (request.url().includes('/api/availability') && asked.push(request.url())));
    await visit.signIn('viewer', `/sites/${made.body.data.id}`);
    await page.getByRole('heading', { name: 'Empty hall' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
    await visit.goto('/routers');
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(asked.filter((url) => /router_ids=(&|$)/.test(url))).toEqual([]);
    await world.caller.call('DELETE', `/api/sites/${made.body.data.id}`);
  });

  it('gives a viewer no button to revoke or change anything', async () => {
    await visit.signIn('viewer', '/agents');
    await page.getByRole('row').getByRole('link').first().click();
    await page.getByText('Connected since').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke this agent' }).count()).toBe(0);
    await visit.goto(`/sites/${siteId}`);
    expect(await page.getByRole('button', { name: 'Change' }).count()).toBe(0);
  });

  it('adds a site, refuses a wrong time zone beside its field, and shows places on the map', async () => {
    await visit.signIn('admin', '/sites');
    await page.getByText('its router answers').waitFor();
    await page.getByRole('button', { name: 'Add a site' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Kihnu isle');
    await page.getByRole('textbox', { name: 'Time zone' }).fill('Europe/Nowhere');
    await page.getByRole('button', { name: 'Add the site' }).click();
    await page.locator('.hint.c-not').filter({ hasText: 'time zone' }).waitFor();
    visit.forgiveFailedRequests();
    await page.getByRole('textbox', { name: 'Time zone' }).fill('Europe/Tallinn');
    await page.getByRole('button', { name: 'Add the site' }).click();
    await page.getByRole('link', { name: 'Kihnu isle' }).waitFor();
    await visit.goto('/map');
    await page.getByText('1 of 2 on the map').waitFor();
    await page.getByRole('img', { name: /A map with 1 site;/ }).waitFor();
  });

  it('keeps the new name of a site when another tab, opened before, changes its latitude only', async () => {
    const given = { name: 'Kuressaare', latitude: 58.25, longitude: 22.48, time_zone: 'Europe/Tallinn' };
    const { id } = (await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', given)).body.data;
    const open = (tab: Page) => tab.getByRole('button', { name: 'Change', exact: true }).click();
    const save = async (tab: Page) => {
      await tab.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await tab.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await visit.signIn('admin', `/sites/${id}`);
    const other = await visit.newTab(`/sites/${id}`);
    await open(other);
    await open(page);
    await page.getByRole('textbox', { name: 'Name' }).fill('Kuressaare harbour');
    await save(page);
    await other.getByRole('textbox', { name: 'Latitude' }).fill('58.5');
    await save(other);
    const { body } = await world.caller.call<{ data: object }>('GET', `/api/sites/${id}`);
    expect(body.data).toMatchObject({ ...given, name: 'Kuressaare harbour', latitude: 58.5 });
    await world.caller.call('DELETE', `/api/sites/${id}`);
  });

  it('goes to a record by a few letters, and by keyboard alone', async () => {
    await visit.signIn('viewer');
    await page.keyboard.press('/');
    await page.getByPlaceholder('Go to a router, agent, site, job, view').fill('router-1');
    await page
      .getByRole('button', { name: /router-1.*router/ })
      .first()
      .waitFor();
    await page.locator('[data-selected]', { hasText: 'router-1' }).waitFor();
    expect(await page.locator('[data-selected]').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'router-1' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('these keys').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
  });

  it('goes to a saved view by its name', async () => {
    const query = { q: 'router -router-2 -"a & b"', sort: 'identity' };
    await world.caller.call('POST', '/api/views', { list: 'routers', name: 'Harbour & docks', query, shared: true });
    await visit.signIn('viewer');
    await page.keyboard.press('/');
    await page.getByPlaceholder('Go to a router').fill('harbour');
    await page.getByRole('button', { name: /Harbour & docks.*view/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.views [aria-current=page]', { hasText: 'Harbour & docks' }).waitFor();
    await page.locator('[data-id]').filter({ hasText: 'router-1' }).waitFor();
    await page.locator('[data-id]').filter({ hasText: 'router-2' }).waitFor({ state: 'detached' });
  });

  it('has no violation that axe finds, wide in light and dark, and on a phone', async () => {
    await visit.signIn('admin');
    const { id: agentId } = (await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents')).body.data[0]!;
    const paths = [
      '/',
      '/agents',
      `/agents/${agentId}`,
      '/sites',
      `/sites/${siteId}`,
      '/map',
      '/faults',
      '/faults?status=all',
      '/devices?q=x',
    ];
    for (const path of paths) {
      await visit.goto(path);
      await page.getByRole('status', { name: 'Reading' }).waitFor({ state: 'detached' });
      expect(await visit.violationsWideAndOnAPhone(), path).toEqual([]);
    }
  });
});
