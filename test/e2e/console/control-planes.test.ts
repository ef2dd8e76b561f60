import { sql } from 'kysely';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConsole } from '../../../server/operations/console/feature.ts';
import type { RunningServer } from '../../../server/compose/start.ts';
import { SERVER_VERSION } from '../../../server/version.ts';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { postgres } from '../../harness/cluster/cluster-world.ts';
import { startMembers } from '../../harness/cluster/members.ts';
import { PHONE, Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import { hasNats } from '../../harness/nats-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';
import { buildConsole } from '../../../scripts/build-console/build.ts';

/** The page of the control planes, for administrators of the installation. */

const PAGE = '/settings/nodes';

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    await buildConsole();
    browser = await launchChromium();
  });
  afterAll(async () => browser?.close());

  const tab = () => page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Control planes' });
  const dialog = () => page.getByRole('dialog');
  const sentence = (text: string) => page.locator('.say').filter({ hasText: text }).waitFor();

  /** A viewer of the team. */
  async function addInstaller(world: World): Promise<void> {
    await addUser(world, 'installer@example.org', 'viewer');
    await world.server.services.teams.setInstallationAdmin('installer@example.org', true);
  }

  describe('with one control plane', () => {
    let world: World;

    beforeAll(async () => {
      // With `TEST_NODES` there would be others.
      world = await startConsoleWorld({ routers: [], spread: false });
      await addInstaller(world);
    });
    afterAll(async () => world?.close());
    beforeEach(async () => {
      visit = await Visit.start(browser, world);
      page = visit.page;
    });
    afterEach(() => visit.end());

    it('says in a sentence that there is no other one', async () => {
      await visit.signInAs('installer@example.org', '/settings/team');
      await tab().click();
      await page.getByText('This control plane serves its database alone.').waitFor();
      expect(await page.getByRole('table').count()).toBe(0);
    });

    it('is not in sight of an administrator of the team, and says who gives the right, without asking for what is refused', async () => {
      await visit.signIn('admin', '/settings/team');
      await page.getByRole('link', { name: 'Audit log' }).waitFor();
      expect(await tab().count()).toBe(0);
      await visit.goto(PAGE);
      await page.getByText('signalbox user installation-admin admin@example.org').waitFor();
    });

    it('is gone from an open page when the right is taken away', async () => {
      const { teams } = world.server.services;
      await addUser(world, 'former@example.org', 'operator');
      await teams.setInstallationAdmin('former@example.org', true);
      await visit.signInAs('former@example.org', PAGE);
      await page.getByText('serves its database alone').waitFor();
      await teams.setInstallationAdmin('former@example.org', false);
      await page.getByText('is for administrators of the installation').waitFor();
      expect(await tab().count()).toBe(0);
      visit.forgiveFailedRequests();
    });
  });

  describe.skipIf(!postgres || !hasNats())('with three control planes', () => {
    let closers: (() => Promise<void>)[];
    let world: World;
    let nodes: RunningServer[];

    beforeAll(async () => {
      closers = [];
      ({ world, nodes } = await startMembers(closers, { members: 3, routers: [{}], overrides: { consoleFiles: readConsole() } }));
      await addInstaller(world);
    });
    afterAll(async () => {
      for (const close of closers.toReversed()) await close();
    });
    beforeEach(async () => {
      visit = await Visit.start(browser, world);
      page = visit.page;
      await visit.signInAs('installer@example.org', PAGE);
    });
    afterEach(() => visit.end());

    /** All run in this process, so only their ids tell them apart. */
    const idOf = (index: number): string => nodes[index]!.services.cluster!.nodeId;
    const row = (index: number): Locator => page.locator(`[data-id="${idOf(index)}"]`);
    const cell = (index: number, title: string): Locator => row(index).locator(`[data-title="${title}"]`);
    const says = (where: Locator, text: string) => where.filter({ hasText: text }).waitFor();

    it('lists them with their agents, clients, version and last beat, and says which one answers', async () => {
      await sentence('3 control planes, all up.');
      for (const index of [0, 1, 2]) {
        await says(cell(index, 'State'), 'up');
        await says(cell(index, 'Agents'), index === 0 ? '1' : '0');
        expect(await cell(index, 'Last beat').innerText()).toMatch(/^\d\.\d s$/);
        await says(cell(index, 'Bus'), 'connected');
      }
      // This page follows the events.
      await says(cell(0, 'Clients'), '1');
      expect(await page.getByText('answers this page').count()).toBe(1);
      await says(row(0), 'answers this page');
    });

    it('marks a version that differs, and reads again by itself', async () => {
      await sentence('all up');
      const set = (version: string) =>
        sql`update nodes set version = ${version} where id = ${idOf(1)}`.execute(world.server.services.storage.db);
      await set('0.0.9');
      await says(cell(1, 'Version'), '0.0.9 differs');
      await sentence('They run 2 versions.');
      await set(SERVER_VERSION);
      await page.getByText('differs').waitFor({ state: 'detached' });
    });

    it('drains one after a question that says what happens, and lets it take work again', async () => {
      await says(cell(0, 'Agents'), '1');
      await row(0).getByRole('button', { name: 'Drain' }).click();
      await dialog().getByText('Its agent is sent to the others').waitFor();
      await dialog().getByText('It also answers this page').waitFor();
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await row(2).getByRole('button', { name: 'Drain' }).click();
      await dialog().getByRole('button', { name: 'Drain' }).click();
      await dialog().waitFor({ state: 'detached' });
      await says(cell(2, 'State'), 'drained');
      await sentence('3 control planes: 2 up, 1 drained.');
      await waitUntil('it obeys', () => nodes[2]!.services.cluster!.isDraining());
      await row(1).getByRole('button', { name: 'Drain' }).click();
      await dialog().getByRole('button', { name: 'Drain' }).click();
      await says(cell(1, 'State'), 'drained');
      // Nobody is left to take what the last one has.
      expect(await row(0).getByRole('button').count()).toBe(0);
      for (const index of [1, 2]) {
        await row(index).getByRole('button', { name: 'Take work again' }).click();
        await dialog().getByRole('button', { name: 'Take work again' }).click();
        await dialog().waitFor({ state: 'detached' });
        await says(cell(index, 'State'), 'up');
      }
      await sentence('3 control planes, all up.');
    });

    it('has no fault for axe, in both themes and on a phone, and is no wider than it', async () => {
      await sentence('all up');
      await nodes[0]!.services.nodes.setDraining(idOf(2), true);
      await says(cell(2, 'State'), 'drained');
      expect(await visit.violationsWideAndOnAPhone()).toEqual([]);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      await nodes[0]!.services.nodes.setDraining(idOf(2), false);
      await says(cell(2, 'State'), 'up');
    });

    it('keeps what it shows while it cannot be read, and says how old that is', async () => {
      await sentence('all up');
      await page.route('**/api/nodes', (route) =>
        route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: 'unavailable', message: 'no database' }),
        }),
      );
      await page.getByRole('alert').filter({ hasText: 'As of' }).waitFor();
      await says(cell(1, 'State'), 'up');
      await page.unroute('**/api/nodes');
      await page.getByRole('alert').waitFor({ state: 'detached' });
      visit.forgiveFailedRequests();
    });
  });
});
