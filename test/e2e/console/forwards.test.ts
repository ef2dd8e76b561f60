import net from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import type { World } from '../../harness/world.ts';

/** Forwards as people open, use, extend and close them in the web application. */

let world: World;
let ids: string[];

beforeAll(async () => {
  world = await startConsoleWorld({ routers: [{}, {}] });
  ids = await world.routerIds();
});
afterAll(() => world?.close());

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

  const button = (name: string | RegExp) => page.getByRole('button', { name });

  it('follows its traffic by events, without asking for the forward again', async () => {
    const wanted = { expire_after_minutes: 10, dst_address: '127.0.0.1', dst_port: world.simulators[0]!.sshPort, allow_from: '127.0.0.1' };
    const path = `/api/routers/${ids[0]}/transient-forwarding`;
    const { body } = await world.caller.call<{ id: string; port: number }>('POST', path, wanted);
    await visit.signIn('viewer', `/forwards/${ids[0]}/${body.id}`);
    await page.getByRole('heading', { name: /Open\. It admits 127\.0\.0\.1\/32/ }).waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(`${path}/${body.id}`)) asked += 1;
    });
    for (let connections = 1; connections <= 5; connections += 1) {
      expect(await firstBytes(body.port)).toContain('SSH-2.0');
      await page.getByText(`${connections} so far`).waitFor();
      await page
        .getByText(/^127\.0\.0\.1/)
        .nth(connections - 1)
        .waitFor();
    }
    // The event of its opening may have come after the first reading.
    expect(asked).toBeLessThanOrEqual(1);
  });

  it('are filtered when nobody types any more, and not with each letter', async () => {
    await visit.signIn('viewer', '/forwards');
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname === '/api/forwards' || pathname.endsWith('/transient-forwarding')) asked.push(search);
    });
    await page.getByRole('searchbox').pressSequentially('status:closed');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=status%3Aclosed');
    await expect.poll(() => asked.filter((search) => search.includes('status=closed')).length).toBe(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('status:closed');
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it('says which fields are empty', async () => {
    await visit.signIn('operator', '/forwards/new?router=router-1');
    await button('Open the forward').click();
    await page.getByText('must not be empty').nth(1).waitFor();
    visit.forgiveFailedRequests();
  });

  it('fills in the address of the router itself', async () => {
    await visit.signIn('operator', '/forwards/new?router=router-1');
    await button('This router').click();
    await button('WinBox').click();
    expect(await page.getByLabel('Address', { exact: true }).inputValue()).toBe('127.0.0.1');
    expect(await page.getByLabel('Port').inputValue()).toBe('8291');
  });

  it('shows the reasons of the server beside the fields', async () => {
    await visit.signIn('operator', '/forwards/new?router=router-1&to=127.0.0.1:22');
    await page.getByLabel('Allow from').fill('0.0.0.0/0');
    await button('Open the forward').click();
    await page.getByText('the prefix length must be from /24 to /32').waitFor();
    await page.getByText('Look at the marked fields').waitFor();
    expect(await page.getByLabel('Allow from').getAttribute('aria-invalid')).toBe('true');
    visit.forgiveFailedRequests();
  });

  it('shows why a target is refused, and viewers no dead button', async () => {
    const wanted = { expire_after_minutes: 10, dst_address: '192.0.2.9', dst_port: 5432, allow_from: '127.0.0.1' };
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${ids[1]}/transient-forwarding`, wanted);
    await visit.signIn('viewer', `/forwards/${ids[1]}/${body.id}`);
    await page.getByRole('heading', { name: /192\.0\.2\.9:5432\. Refused/ }).waitFor();
    await page.getByText("'fc00::/7', 192.0.2.9/32]").waitFor();
    // Nothing looks as if it could be used.
    expect(await page.getByText(/^psql "host=/).count()).toBe(0);
    expect(await page.getByRole('timer').count()).toBe(0);
    expect(await button(/Extend|Close/).count()).toBe(0);
    await visit.goto('/forwards?router=router-1');
    await page.getByRole('row').filter({ hasText: '192.0.2.9:5432' }).getByText('refused').waitFor();
    await page.getByText('1 forward open').waitFor();
    expect(await page.getByRole('link', { name: 'Open a forward' }).count()).toBe(0);
    await page.getByRole('searchbox').fill('status:gone');
    await page.getByText('There is no status gone').waitFor();
  });

  it('is open as long as the control plane says, whatever the clock of the browser', async () => {
    const wanted = { expire_after_minutes: 10, dst_address: '127.0.0.1', dst_port: 9, allow_from: '127.0.0.1' };
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${ids[0]}/transient-forwarding`, wanted);
    await page.clock.setSystemTime(Date.now() + 2 * 3_600_000);
    // Not until it is live: the worker that reads the events has the clock of the machine here, and not that of the page.
    await page.goto(`${visit.origin}/forwards/${ids[0]}/${body.id}`);
    await visit.fillSignIn('operator');
    await page.getByRole('heading', { name: /Open.* It admits/ }).waitFor();
    expect(await page.getByRole('timer').innerText()).toMatch(/^(?:9:\d\d|10:00)$/);
    await button('Close it now').waitFor();
  });

  it('tells administrators who closed it, as soon as the audit log has it', async () => {
    const wanted = { expire_after_minutes: 10, dst_address: '127.0.0.1', dst_port: 9, allow_from: '127.0.0.1' };
    const path = `/api/routers/${ids[0]}/transient-forwarding`;
    const { body } = await world.caller.call<{ id: string }>('POST', path, wanted);
    await visit.signIn('admin', `/forwards/${ids[0]}/${body.id}`);
    await button('Close it now').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close it now' }).click();
    const fact = page.getByRole('term').filter({ hasText: 'Closed by' }).locator('xpath=..');
    expect(await fact.getByRole('definition').innerText()).toBe('admin@example.org');
  });

  it('has no violation that axe finds, in light and dark', async () => {
    const wanted = { expire_after_minutes: 10, dst_address: '127.0.0.1', dst_port: 8291, allow_from: '127.0.0.1' };
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${ids[1]}/transient-forwarding`, wanted);
    await visit.signIn('admin');
    for (const path of [
      '/forwards?q=status%3Aall',
      '/forwards?router=router-0',
      '/forwards/new',
      '/forwards/new?router=router-1',
      `/forwards/${ids[1]}/${body.id}`,
    ]) {
      await visit.goto(path);
      await page.getByRole('main').getByText(/\w/).first().waitFor();
      expect(await visit.violationsInBothThemes(), path).toEqual([]);
    }
  });
});

/** What the other end says first. */
function firstBytes(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1'));
      socket.end();
    });
  });
}
