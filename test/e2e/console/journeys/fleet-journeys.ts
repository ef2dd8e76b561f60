import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { enrol } from '../../../../agent/link/enrol.ts';
import { SERVER_VERSION } from '../../../../server/version.ts';
import { addUser } from '../../../harness/identity/sign-in.ts';
import { Stand } from '../../../harness/stand.ts';
import type { Journey, Stage } from './journey.ts';

/** A silent router is noticed after two pings without an answer, at most 20 s apart, with 10 s for each. Milliseconds, with patience. */
const NOTICED_MS = 120_000;

const FILE = Buffer.from('the agent');

const enrolment: Journey = {
  title: 'connects the first agent of a team, from an empty page to the first answer of a router',
  world: { overrides: { agentRelease: { version: SERVER_VERSION, sha256: 'a'.repeat(64), bytes: FILE.length, file: FILE } } },
  run: async ({ world, visit, page }) => {
    // The new team's agent is to have the router.
    await world.agent?.close();
    world.agent = undefined;
    const credentialsFile = path.join(world.folder, 'credentials.json');
    await rm(credentialsFile);
    await addUser(world, 'new-admin@example.org', 'admin', (await world.addTeam('New')).teamId);
    const step = (title: string) => page.getByRole('listitem').filter({ hasText: title }).last();
    await visit.signInAs('new-admin@example.org', '/');
    await page.getByRole('heading', { name: 'Connect an agent.' }).waitFor();
    await page.getByLabel('Name of the agent').fill('riga-dc-1');
    await page.getByRole('button', { name: 'Make the command' }).click();
    const token = /--token (\S+)/.exec(await page.getByLabel('Lines to run').innerText())![1]!;
    await step('Token used').getByText('waits').waitFor();
    await enrol({ server: world.server.url, token, name: 'riga-dc-1', credentialsFile });
    await step('Token used').locator('time').waitFor();
    await world.startAgent({ state: 'state-of-the-new-agent' });
    await step('Agent connected').getByText('riga-dc-1').waitFor();
    await step('First answer').getByText('router-0').waitFor();
    await page.getByRole('link', { name: 'Its page' }).click();
    await page.getByRole('heading', { name: 'router-0' }).waitFor();
  },
};

/** A router whose lines can be cut. */
async function withStand({ world }: Stage, act: (stand: Stand) => Promise<void>): Promise<void> {
  const stand = await Stand.start(world, 'depot');
  try {
    await act(stand);
  } finally {
    await stand.close();
  }
}

const openBreak = (page: Page, words: RegExp) =>
  page.getByRole('table', { name: 'Breaks of agent and router' }).getByRole('cell', { name: words }).first();

const tunnelCut: Journey = {
  title: 'sees that a tunnel was cut, since when and why, and that it is back',
  world: { routers: [] },
  run: (stage) =>
    withStand(stage, async (stand) => {
      const { visit, page } = stage;
      await visit.signIn('operator', `/routers/${stand.routerId}`);
      await page.getByText('The router has answered since').waitFor();
      stand.tunnelLine.stall();
      stand.tunnelLine.cut();
      await page.getByText(/Its agent has been away since .*: network\./).waitFor();
      await openBreak(page, /network, still/).waitFor();
      await openBreak(page, /not asked, agent away/).waitFor();
      stand.tunnelLine.flow();
      stand.tunnelLine.cut();
      await page.getByText('The router has answered since').waitFor();
      await openBreak(page, /network, \d+ s/).waitFor();
    }),
};

const unplugged: Journey = {
  title: 'sees that a router was unplugged while its agent is there, and that it answers again',
  world: { routers: [] },
  run: (stage) =>
    withStand(stage, async (stand) => {
      const { visit, page } = stage;
      // The first page of a team with one router is its story.
      await visit.signIn('viewer', '/');
      await page.waitForURL(`**/routers/${stand.routerId}`);
      await page.getByText('The router has answered since').waitFor();
      // Nothing that is sent to it gets an answer, not even that nobody is there.
      stand.routerLine.stall();
      await stand.simulator.router.powerOff();
      await page.getByText(/The router has not answered since .*: timeout\./).waitFor({ timeout: NOTICED_MS });
      await page.getByText(/Its agent depot is connected since/).waitFor();
      await openBreak(page, /timeout, still/).waitFor();
      stand.simulator.router.powerOn();
      stand.routerLine.flow();
      stand.routerLine.cut();
      await page.getByText('The router has answered since').waitFor({ timeout: NOTICED_MS });
    }),
};

const twoTabs: Journey = {
  title: 'has two tabs on one event stream; when one closes, the other goes on hearing',
  world: { routers: [{}, {}] },
  run: async ({ world, visit, page }) => {
    await world.routerIds();
    await visit.signIn('operator', '/routers');
    const second = await visit.newTab('/routers');
    const row = (tab: Page) => tab.getByRole('row').filter({ has: tab.getByRole('link', { name: 'router-0' }) });
    await world.agent!.close();
    await row(page).getByText('agent away').waitFor();
    await row(second).getByText('agent away').waitFor();
    await page.close();
    await world.startAgent();
    await row(second).getByText('answering', { exact: true }).waitFor();
  },
};

export const FLEET_JOURNEYS = { enrolment, tunnelCut, unplugged, twoTabs };
