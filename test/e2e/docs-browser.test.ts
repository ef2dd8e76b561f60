import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

/** `/docs` as people see it: headless Chromium under the page's own policy. */
const CHROMIUM = '/usr/bin/chromium';
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const isMissing = !existsSync(CHROMIUM);

let world: World;
let browser: Browser;
beforeAll(async () => {
  if (isMissing) return;
  world = await World.start({ routers: [] });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

test.skipIf(isMissing)('the page at /docs shows the product logo and all groups, loads nothing external and breaks no policy', async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The framework sets one style of its own, which the policy stops. The public URL of this world has no port, so the sign-in's discovery
    // document is at another origin; both are the policy at work.
    const isExpected = /^Applying inline style violates|openid-configuration|^TypeError: Failed to fetch/.test(message.text());
    if (message.type() === 'error' && !isExpected) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol, pathname } = new URL(request.url());
    if (protocol !== 'data:' && origin !== world.server.url && !pathname.endsWith('/openid-configuration')) complaints.push(request.url());
  });
  await page.goto(`${world.server.url}/docs/`);
  await page.locator('.opblock-tag').first().waitFor();
  expect(await page.title()).toBe('Signalbox API');
  const logo = page.locator('.topbar .link img');
  await logo.waitFor();
  expect(await logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(50);
  expect(await page.locator('.topbar .link svg').count()).toBe(0);
  expect(await page.locator('.download-url-wrapper').isVisible()).toBe(false);
  expect(await page.locator('.opblock-tag').count()).toBeGreaterThan(10);
  expect(complaints).toEqual([]);
});
