import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PUBLIC_ROUTES } from '../../../harness/route-table.ts';
import { Visit } from '../../../harness/console-browser.ts';
import type { Role } from '../../../harness/console-browser.ts';
import type { Journey, Stage } from './journey.ts';

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 };

/** What a page offers, and the least role that it is offered to. */
interface Offer {
  path: (ids: { router: string; agent: string }) => string;
  /** By its role for a reader of the screen, and its name. */
  as: 'button' | 'link' | 'checkbox';
  name: string;
  least: Role;
}

const offer = (path: string, as: Offer['as'], name: string, least: Role): Offer => ({
  path: ({ router, agent }) => path.replace('ROUTER', router).replace('AGENT', agent),
  as,
  name,
  least,
});

const OFFERS: readonly Offer[] = [
  offer('/', 'link', 'Run on routers', 'operator'),
  offer('/routers', 'checkbox', 'Select router-0', 'operator'),
  offer('/run?routers=router-0', 'button', 'Run', 'operator'),
  offer('/run?routers=router-0&mode=script', 'button', 'Run the script', 'operator'),
  offer('/campaigns', 'link', 'New campaign', 'operator'),
  offer('/campaigns/new?q=router-0', 'button', 'Start on 1 router', 'operator'),
  offer('/forwards', 'link', 'Open a forward', 'operator'),
  offer('/forwards/new?router=router-0', 'button', 'Open the forward', 'operator'),
  offer('/routers/ROUTER/backups', 'button', 'Take one now', 'operator'),
  offer('/routers/ROUTER/backups', 'button', 'Set a time for all routers', 'admin'),
  offer('/routers/ROUTER/terminal', 'button', 'Open the terminal', 'operator'),
  offer('/agents', 'link', 'Connect an agent', 'admin'),
  offer('/agents/AGENT', 'button', 'Revoke this agent', 'admin'),
  offer('/sites', 'button', 'Add a site', 'admin'),
  offer('/settings/members', 'button', 'Invite a person', 'admin'),
  offer('/settings/keys', 'button', 'Create API key', 'admin'),
  offer('/settings/clients', 'button', 'Register application', 'admin'),
  offer('/settings/webhook', 'button', 'Make a secret', 'admin'),
];

/** The token that the page itself sends. */
async function tokenOf(page: Page): Promise<string> {
  const request = page.waitForRequest((one) => one.headers()['authorization'] !== undefined);
  await page.reload();
  return (await request).headers()['authorization']!;
}

const ANY_ID = '00000000-0000-4000-8000-000000000000';

/** Requests above this role, or for administrators of the installation, that the control plane did not refuse. */
async function admitted({ world }: Stage, role: Role, authorization: string): Promise<string[]> {
  const found: string[] = [];
  for (const { method, path, role: least, kind, body } of PUBLIC_ROUTES) {
    if (RANK[least] <= RANK[role] && kind !== 'installation') continue;
    const url = world.server.url + path.replaceAll(/\{\w+\}/g, ANY_ID);
    const content =
      body === undefined ? {} : { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const { status } = await fetch(url, { method, headers: { authorization }, ...content });
    if (status !== 403) found.push(`${role}: ${method} ${path} answered ${status}`);
  }
  return found;
}

const roleMatrix: Journey = {
  title: 'is offered in each role what that role may do and nothing else, and the control plane refuses the rest anyway',
  // With one router, the first page is its story.
  world: { routers: [{}, {}], terminal: 'full' },
  run: async (stage) => {
    const { world, browser } = stage;
    const [router = ''] = await world.routerIds();
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
    const ids = { router, agent: body.data[0]!.id };
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      const visit = await Visit.start(browser, world);
      const { page } = visit;
      await visit.signIn(role, '/me');
      expect(await admitted(stage, role, await tokenOf(page))).toEqual([]);
      for (const { path, as, name, least } of OFFERS) {
        await visit.goto(path(ids));
        await page.locator('main:not(:has(.reading))').waitFor();
        const offered = page.getByRole('main').getByRole(as, { name, exact: true });
        if (RANK[role] >= RANK[least]) await offered.first().waitFor();
        else expect(await offered.count(), `${role} ${path(ids)} ${name}`).toBe(0);
      }
      await visit.end();
    }
  },
};

export const ROLE_JOURNEYS = { roleMatrix };
