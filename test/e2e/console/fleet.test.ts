import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { PASSWORD } from '../../harness/identity/sign-in.ts';
import type { World } from '../../harness/world.ts';

/** The web application as people use it: headless Chromium, the built files, the real provider, agent and routers. */

let world: World;

beforeAll(async () => {
  world = await startConsoleWorld({ routers: [{}, {}] });
  await world.routerIds();
});
afterAll(() => world?.close());

describe('the files of the web application', () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${world.server.url}${path}`, { headers });
  const html = { accept: 'text/html,application/xhtml+xml' };

  it('answers every address of the application with a page that has a nonce of its own', async () => {
    const [one, other] = [await get('/routers?q=core', html), await get('/jobs/anything', html)];
    const nonces = await Promise.all(
      [one, other].map(async (answer) => {
        expect(answer.status).toBe(200);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy')!)![1]!;
        expect(await answer.text()).toContain(`nonce="${nonce}"`);
        return nonce;
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('allows neither inline scripts nor other origins nor frames', async () => {
    const policy = (await get('/', html)).headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('leaves the addresses of the interface to the interface, and programs without a page', async () => {
    expect((await get('/api/nothing', html)).headers.get('content-type')).toContain('application/problem+json');
    expect((await get('/assets/nothing.js', html)).status).toBe(404);
    expect((await get('/routers')).status).toBe(404);
    const posted = await fetch(`${world.server.url}/routers`, { method: 'POST', headers: html });
    expect(posted.status).toBe(404);
  });

  it('says that a file of another build is missing, and lets no cache remember it', async () => {
    const missing = await get('/assets/jobs-page-00000000.js');
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, 'no-store']);
    const posted = await fetch(`${world.server.url}/assets/jobs-page-00000000.js`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await get('/assets/../index.html')).status).toBe(404);
    expect((await get('/assets/%2e%2e/index.html')).status).toBeGreaterThanOrEqual(400);
  });

  it('lets browsers keep the built files for ever, compressed', async () => {
    const page = await (await get('/', html)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)![1]!;
    const answer = await get(script, { 'accept-encoding': 'br' });
    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; connect-src 'self'");
  });
});

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
  });
  afterEach(() => visit.end());

  const nameOf = (index: number) => page.getByRole('link', { name: `router-${index}` });
  const signIn = (path = '/') => visit.signIn('operator', path);

  it('signs a person in and shows the fleet, its routers and one of them', async () => {
    await signIn();
    await page.getByRole('heading', { name: 'Both routers answer.' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Routers' }).click();
    await nameOf(1).waitFor();
    await nameOf(0).click();
    await page.getByText('The router has answered since').waitFor();
    await page.getByText('SERIAL0').waitFor();
  });

  it('returns to the address that was asked for, also after a reload, without asking for the password again', async () => {
    await signIn('/routers?q=state%3Aanswering&sort=identity');
    await page.getByText('2 of 2').waitFor();
    expect(new URL(page.url()).search).toBe('?q=state%3Aanswering&sort=identity');
    await page.reload();
    await page.getByText('2 of 2').waitFor();
    expect(new URL(page.url()).search).toBe('?q=state%3Aanswering&sort=identity');
  });

  it('keeps no token where a script of another page or a thief of the disk finds it', async () => {
    await signIn();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).toBe('[{},{},""]');
  });

  it('filters, and says how many of how many match', async () => {
    await signIn('/routers');
    await page.getByRole('searchbox').fill('router-1 -state:agent_away');
    await page.getByText('1 of 2').waitFor();
    await nameOf(1).waitFor();
    expect(await nameOf(0).count()).toBe(0);
    await page.getByRole('searchbox').fill('7.18');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=7.18');
    await page.getByRole('searchbox').fill('nothing has this name');
    await page.getByText('No router matches').waitFor();
  });

  it('shows a router that stops answering, and answers again, without a reload', async () => {
    await signIn('/routers');
    const row = page.getByRole('row').filter({ has: nameOf(0) });
    await row.getByText('answering', { exact: true }).waitFor();
    await world.agent!.close();
    await row.getByText('agent away').waitFor();
    await page.getByRole('group', { name: 'Routers by state' }).getByTitle('2 agent away').waitFor();
    await world.startAgent();
    await row.getByText('answering', { exact: true }).waitFor();
  });

  it('hears of changes again after a restart of the control plane during which it needed a new token', async () => {
    // Every token counts as used up, so that each request needs a new one.
    await page.route('**/oidc/token', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), expires_in: 30 } });
    });
    await signIn('/routers');
    let failures = 0;
    await page.route('**/oidc/auth**', (route) => {
      failures += 1;
      return route.abort();
    });
    await world.restartServer();
    await expect.poll(() => failures, { timeout: 30_000 }).toBeGreaterThan(4);
    await page.unroute('**/oidc/auth**');
    const row = page.getByRole('row').filter({ has: nameOf(0) });
    await world.agent!.close();
    await row.getByText('agent away').waitFor();
    await world.startAgent();
    await row.getByText('answering', { exact: true }).waitFor();
    visit.forgiveFailedRequests();
  });

  it('is live at once in a tab that is opened beside another', async () => {
    await signIn('/routers');
    const second = await visit.context.newPage();
    await second.goto(`${world.server.url}/routers`);
    await second.getByRole('heading', { name: 'Routers' }).waitFor();
    // The next heartbeat of the stream may be 15 s away.
    await second.getByText('live', { exact: true }).waitFor({ timeout: 5000 });
  });

  it('misses no change that another tab hears of while this tab reads its list', async () => {
    await signIn('/routers');
    const second = await visit.context.newPage();
    let isHeld = false;
    await second.route(
      '**/api/routers?*',
      async (route) => {
        const answer = await route.fetch();
        isHeld = true;
        // The list is old when it arrives: meanwhile the first tab has told of a change.
        await world.agent!.close();
        await page
          .getByRole('row')
          .filter({ has: nameOf(0) })
          .getByText('agent away')
          .waitFor();
        await route.fulfill({ response: answer });
      },
      { times: 1 },
    );
    await second.goto(`${world.server.url}/routers`);
    const row = second.getByRole('row').filter({ has: second.getByRole('link', { name: 'router-0' }) });
    await row.getByText('agent away').waitFor();
    expect(isHeld).toBe(true);
    await world.startAgent();
    await row.getByText('answering', { exact: true }).waitFor();
  });

  it('takes the stream over from a tab that has frozen', async () => {
    await signIn('/routers');
    const second = await visit.newTab('/routers');
    // The holder of the lock tells the others nothing any more.
    await page.evaluate(() => {
      BroadcastChannel.prototype.postMessage = () => undefined;
    });
    const row = second.getByRole('row').filter({ has: second.getByRole('link', { name: 'router-0' }) });
    await world.agent!.close();
    await row.getByText('agent away').waitFor({ timeout: 60_000 });
    await world.startAgent();
    await row.getByText('answering', { exact: true }).waitFor();
  });

  it('does nothing more when another tab has signed in as somebody else', async () => {
    await signIn('/routers');
    await nameOf(0).waitFor();
    const second = await visit.newTab('/routers');
    // A link with which another application may ask for a new sign-in.
    const asked = { client_id: 'signalbox-console', redirect_uri: `${visit.origin}/callback`, response_type: 'code', prompt: 'login' };
    const challenge = { scope: 'openid email api', state: 'x', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' };
    await second.goto(`${visit.origin}/oidc/auth?${new URLSearchParams({ ...asked, ...challenge }).toString()}`);
    await second.getByLabel('Email address').fill('admin@example.org');
    await second.getByLabel('Password').fill(PASSWORD);
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByRole('heading', { name: 'The control plane cannot be read' }).waitFor();
    await second.goto(`${visit.origin}/me`);
    await second.getByRole('link', { name: 'admin@example.org, admin' }).waitFor();
    await page.getByRole('heading', { name: 'This browser is signed in to' }).waitFor();
    expect(await page.getByText('admin@example.org').count()).toBe(1);
    expect(await nameOf(0).count()).toBe(0);
    await page.getByRole('link', { name: 'Go on in' }).click();
    await page.getByRole('link', { name: 'admin@example.org, admin' }).waitFor();
  });

  it('shows a change of site and name that somebody else has made, without a reload', async () => {
    await signIn('/routers');
    const row = page.getByRole('row').filter({ has: nameOf(1) });
    const created = await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'Harbour' });
    // The names of sites are read with the page.
    await page.reload();
    await row.getByText('answering', { exact: true }).waitFor();
    const { body } = await world.caller.call<{ data: { id: string; identity: string }[] }>('GET', '/api/routers');
    const { id } = body.data.find(({ identity }) => identity === 'router-1')!;
    await world.caller.call('PATCH', `/api/routers/${id}`, { site_id: created.body.data.id });
    await row.getByText('Harbour').waitFor();
    const rename = (name: string) =>
      world.caller.call('POST', `/api/synchronous/${id}`, { command: '/system/identity/set', parameters: `name=${name}` });
    await rename('harbour-gw');
    await page.getByRole('link', { name: 'harbour-gw' }).waitFor({ timeout: 60_000 });
    await rename('router-1');
    await row.getByText('Harbour').waitFor({ timeout: 60_000 });
    await world.caller.call('PATCH', `/api/routers/${id}`, { site_id: null });
    await row.getByText('Harbour').waitFor({ state: 'detached' });
  });

  describe('after an upgrade of the control plane', () => {
    const gone = (route: Route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{}' });
    /** The document that the control plane serves by now. */
    const upgrade = () =>
      page.route(
        (url) => url.pathname === '/',
        (route) => route.fulfill({ contentType: 'text/html', body: '<script src="/assets/index-OfAnotherBuild.js"></script>' }),
      );

    it('reloads once for a page whose code is gone, and then says what to do', async () => {
      await signIn('/routers');
      await upgrade();
      await page.route('**/assets/jobs-page-*.js', gone, { times: 1 });
      await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click();
      await page.getByRole('heading', { name: 'Jobs' }).waitFor();
      await page.route('**/assets/agents-page-*.js', gone);
      await page.getByRole('navigation').getByRole('link', { name: 'Agents' }).click();
      await page.getByText('Signalbox was updated').waitFor();
      await page.unroute('**/assets/agents-page-*.js');
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.getByRole('heading', { name: 'Agents' }).waitFor();
      visit.forgiveFailedRequests();
      // React tells of the error that the page has shown.
      visit.complaints = visit.complaints.filter((text) => !text.includes('Failed to fetch dynamically imported module'));
    });

    it('keeps what was typed when a part of the page is gone', async () => {
      await signIn('/routers');
      await page.getByRole('searchbox').fill('router-1');
      await page.getByText('1 of 2').waitFor();
      await upgrade();
      await page.route('**/assets/modal-*.js', gone);
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('alert').getByText('Signalbox was updated').waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('router-1');
      await page.unroute('**/assets/modal-*.js');
      await page.getByRole('alert').getByRole('button', { name: 'Reload' }).click();
      await page.getByText('1 of 2').waitFor();
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('dialog').waitFor();
      visit.forgiveFailedRequests();
    });
  });

  describe('while the network is down', () => {
    it('keeps its tab when a page is opened whose code was not loaded yet, and shows it once the network is back', async () => {
      await signIn('/routers');
      await visit.context.setOffline(true);
      await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).click();
      await page.getByText('A file of Signalbox could not be loaded.').waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('The control plane does not answer yet.').waitFor();
      expect(await page.getByText('was updated').count()).toBe(0);
      await visit.context.setOffline(false);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Devices' }).waitFor();
      visit.forgiveFailedRequests();
      // React tells of the error that the page has shown.
      visit.complaints = visit.complaints.filter((text) => !text.includes('A file of Signalbox could not be loaded'));
    });

    it('keeps what was typed when a part of the page is asked for, and shows the part once the network is back', async () => {
      await signIn('/routers');
      await page.getByRole('searchbox').fill('router-1');
      await page.getByText('1 of 2').waitFor();
      await visit.context.setOffline(true);
      await page.getByRole('button', { name: 'Save view' }).click();
      await page.getByRole('alert').getByText('A file of Signalbox could not be loaded.').waitFor();
      await visit.context.setOffline(false);
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await page.getByRole('searchbox', { includeHidden: true }).inputValue()).toBe('router-1');
      visit.forgiveFailedRequests();
    });
  });

  it('reads by itself while its stream is refused', async () => {
    await page.route('**/api/events', (route) =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        json: { code: 'too_many_streams', message: 'you have 5 streams already' },
      }),
    );
    await page.goto(`${world.server.url}/routers`);
    await visit.fillSignIn('operator');
    await page.getByText('not live, read every 30 s: you have 5 streams already').waitFor();
    const row = page.getByRole('row').filter({ has: nameOf(0) });
    await world.agent!.close();
    await row.getByText('agent away').waitFor({ timeout: 60_000 });
    await world.startAgent();
    visit.forgiveFailedRequests();
  });

  it('has no violation that axe finds, in light and dark', async () => {
    await signIn();
    const [id] = await world.routerIds();
    for (const path of ['/', '/routers', '/routers?q=nothing', `/routers/${id}`, '/no-such-page', `/routers/${id!.replace(/^../, 'ff')}`]) {
      await visit.goto(path);
      expect(await visit.violationsInBothThemes(), path).toEqual([]);
    }
    // The answer about a router that is not there.
    visit.forgiveFailedRequests();
  });
});
