import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
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

  it.each(['light', 'dark'] as const)('has no violation that axe finds, in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await signIn();
    const [id] = await world.routerIds();
    for (const path of ['/', '/routers', '/routers?q=nothing', `/routers/${id}`, '/no-such-page', `/routers/${id!.replace(/^../, 'ff')}`]) {
      await visit.goto(path);
      const found = await visit.accessibilityViolations();
      expect(found, path).toEqual([]);
    }
    // The answer about a router that is not there.
    visit.forgiveFailedRequests();
  });
});
