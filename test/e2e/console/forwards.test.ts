import net from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
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

  it('is opened with the own address filled in, used, extended and closed', async () => {
    await visit.signIn('operator', '/forwards');
    await page.getByText('No forwards are open').waitFor();
    await page.getByRole('link', { name: 'Open a forward' }).click();
    await page.getByLabel('Behind which router').fill('router-0');
    await page.getByRole('main').getByRole('link', { name: 'router-0' }).click();
    const from = page.getByLabel('Allow from');
    await waitUntil('the own address is filled in', async () => ((await from.inputValue()) === '127.0.0.1' ? true : undefined));
    await page.getByLabel('Address', { exact: true }).fill('127.0.0.1');
    await page.getByLabel('Port').fill(String(world.simulators[0]!.sshPort));
    await button('Open the forward').click();
    await page.getByRole('heading', { name: /Open\. It admits 127\.0\.0\.1\/32/ }).waitFor();
    await page.getByText('direct: the agent dials the router itself').waitFor();
    await page.getByText(/^signalbox forward --router router-0 --to 127\.0\.0\.1:/).waitFor();

    const { body } = await world.caller.call<{ port: number }[] | { data: { port: number }[] }>('GET', '/api/transient-forwarding');
    const [{ port }] = ('data' in body ? body.data : body) as [{ port: number }];
    expect(await firstBytes(port)).toContain('SSH-2.0');
    await page.getByText(/1 so far/).waitFor();
    await page
      .getByText(/^127\.0\.0\.1(:\d+)?$/)
      .first()
      .waitFor();

    await button('Extend').click();
    await page.getByRole('dialog').getByLabel('From now on for').selectOption('1440');
    await button('Extend it').click();
    await page
      .getByRole('timer')
      .getByText(/^23:59:\d\d$/)
      .waitFor();

    await button('Close it now').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close it now' }).click();
    await page.getByRole('heading', { name: /Ended: closed by hand/ }).waitFor();
    expect(await page.getByText('Connect', { exact: true }).count()).toBe(0);
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
    await page.getByText(/^psql "host=/).waitFor();
    expect(await button(/Extend|Close/).count()).toBe(0);
    await visit.goto('/forwards?router=router-1');
    await page.getByRole('row').filter({ hasText: '192.0.2.9:5432' }).getByText('refused').waitFor();
    await page.getByText('1 forward open').waitFor();
    expect(await page.getByRole('link', { name: 'Open a forward' }).count()).toBe(0);
    await page.getByRole('searchbox').fill('status:gone');
    await page.getByText('There is no status gone').waitFor();
  });

  it.each(['light', 'dark'] as const)('has no violation that axe finds, in %s', async (colorScheme) => {
    const wanted = { expire_after_minutes: 10, dst_address: '127.0.0.1', dst_port: 8291, allow_from: '127.0.0.1' };
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${ids[1]}/transient-forwarding`, wanted);
    await page.emulateMedia({ colorScheme });
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
      expect(await visit.accessibilityViolations(), path).toEqual([]);
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
