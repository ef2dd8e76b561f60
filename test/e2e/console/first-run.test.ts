import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVER_VERSION } from '../../../server/version.ts';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import type { Caller, World } from '../../harness/world.ts';

/** From a team with nothing to a router's first answer, on one page. */

const FILE = Buffer.from('the agent');

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let world: World;
  let team: Caller;
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    const agentRelease = { version: SERVER_VERSION, sha256: 'a'.repeat(64), bytes: FILE.length, file: FILE };
    world = await startConsoleWorld({ overrides: { agentRelease }, server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000' } });
    // The new team's agent is to have the router.
    await world.agent?.close();
    world.agent = undefined;
    await rm(path.join(world.folder, 'credentials.json'));
    team = await world.addTeam('New');
    for (const role of ['admin', 'viewer'] as const) await addUser(world, `new-${role}@example.org`, role, team.teamId);
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

  const lines = () => page.getByLabel('Lines to run');

  async function showLines(): Promise<string> {
    await page.getByLabel('Name of the agent').fill('riga-dc-1');
    await page.getByRole('button', { name: 'Make the command' }).click();
    return /--token (\S+)/.exec(await lines().innerText())![1]!;
  }

  it('tells who may connect an agent to those who may not', async () => {
    await visit.signInAs('new-viewer@example.org', '/');
    await page.getByText('Ask new-admin@example.org').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });

  it('has a heading while the rest of the page is on its way', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/first-run-*.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    await visit.signInAs('new-admin@example.org', '/');
    await page.getByText('Reading', { exact: true }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Connect an agent.' }).waitFor();
    held.resolve();
    await page.getByLabel('Name of the agent').waitFor();
  });

  it('has lines for each kind of machine, and copies them', async () => {
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit.signInAs('new-admin@example.org', '/agents/new');
    const token = await showLines();
    const origin = world.server.url;
    expect(await lines().innerText()).toBe(`curl -fsSO ${origin}/agent/install.sh\nsudo sh install.sh --token ${token} --name riga-dc-1`);
    await page.getByRole('button', { name: 'Copy the lines' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(await lines().innerText());
    await page.getByRole('radio', { name: 'Compose' }).check({ force: true });
    expect(await lines().innerText()).toContain(`echo ${token} > agent/enrol-token.txt`);
    expect(await page.getByLabel('Lines that start the agent').innerText()).toBe('docker compose up -d');
    await page.getByRole('radio', { name: 'By hand' }).check({ force: true });
    expect(await lines().innerText()).toContain(`curl -fsSO ${origin}/agent/signalbox-agent.cjs`);
    expect(await page.getByLabel('Lines that start the agent').innerText()).toMatch(/check [^]*\n.* run --config/);
    await page.getByRole('radio', { name: 'Container on RouterOS' }).check({ force: true });
    expect(await lines().innerText()).toContain('enrol-token create --team New --routeros');
    await page.getByText(`A router does not reach ${origin}`).waitFor();
  });

  it('has the script once the control plane has an agent, with the token and the password of before', async () => {
    await page.clock.install();
    await page.route('**/agent/release', (route) => route.fulfill({ json: null }));
    await visit.signInAs('new-admin@example.org', '/agents/new');
    const token = await showLines();
    await page.getByText('this page has the script by itself').waitFor();
    const user = await page.getByLabel('Lines for the router').innerText();
    await page.getByText('What the rights are for').click();
    await page.getByText('test, policy, password, reboot: for the undo guard').waitFor();
    await page.unroute('**/agent/release');
    await page.clock.fastForward(10_000);
    await lines().getByText(`install.sh --token ${token}`).waitFor();
    expect(await page.getByLabel('Lines for the router').innerText()).toBe(user);
    visit.forgiveFailedRequests();
  });

  it('says the usual reasons when nothing is heard for 90 seconds, and not before', async () => {
    await page.clock.install();
    await visit.signInAs('new-admin@example.org', '/agents/new');
    await showLines();
    await page.clock.fastForward(60_000);
    expect(await page.getByText('It stays silent').count()).toBe(0);
    await page.clock.fastForward(35_000);
    await page.getByText('It stays silent').waitFor();
    await page.getByText('a firewall lets only known hosts out').waitFor();
  });
});
