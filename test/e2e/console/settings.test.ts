import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { invite } from '../../harness/identity/links.ts';
import { PASSWORD, addUser } from '../../harness/identity/sign-in.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/** The settings of a team as administrators use them. */

/** Runs in the page: of each row of its tables, where the first line of each cell's text stands. What has no height is put before the text and measured. */
const BASELINES = `[...document.querySelectorAll('main [role=row]')].map((row) => [...row.children].flatMap((cell) => {
  const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
  if (text === null) return [];
  const [line, mark] = [document.createElement('span'), document.createElement('span')];
  mark.style.display = 'inline-block';
  text.before(line);
  line.append(mark, text);
  const { bottom } = mark.getBoundingClientRect();
  line.replaceWith(text);
  return [bottom];
}))`;
/** Runs in the page: where the words of the last cell of each row end that are seen. */
const ENDS = `[...document.querySelectorAll('main [role=table]:first-of-type [role=row] > :last-child')].map((cell) => {
  const range = document.createRange();
  range.selectNodeContents(document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode());
  return range.getBoundingClientRect().right;
})`;

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}], terminal: 'full', server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000' } });
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

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const dialog = () => page.getByRole('dialog');
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const statusOf = async (apiKey: string) =>
    (await fetch(`${world.server.url}/api/me`, { headers: { authorization: `Bearer ${apiKey}` } })).status;

  it('reaches an open page when a role is changed: what it allows appears, and what it no longer allows is gone', async () => {
    const id = await addUser(world, 'hedy@example.org', 'viewer');
    const give = async (role: string) => expect((await world.caller.call('PATCH', `/api/members/${id}`, { role })).status).toBe(200);
    await visit.signInAs('hedy@example.org', '/sites');
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(await button('Add a site').count()).toBe(0);
    await give('admin');
    await button('Add a site').click();
    await dialog().getByLabel('Name').fill('Riga');
    await give('viewer');
    await page.getByText('hedy@example.org, viewer').waitFor();
    await dialog().waitFor({ state: 'detached' });
    expect(await button('Add a site').count()).toBe(0);
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    const notice = page.getByRole('status').filter({ hasText: 'Your role is now viewer. What it does not allow is gone' });
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
  });

  it('keeps what is typed under a lower role that allows it still, and takes it away under one that does not', async () => {
    const id = await addUser(world, 'mary@example.org', 'admin');
    const give = async (role: string) => expect((await world.caller.call('PATCH', `/api/members/${id}`, { role })).status).toBe(200);
    await visit.signInAs('mary@example.org', '/run?q=router&mode=script');
    const script = page.getByRole('textbox', { name: 'Script' });
    await script.fill(':put "half a thought"');
    await give('operator');
    await page.getByText('Your role is now operator.').waitFor();
    expect(await script.inputValue()).toBe(':put "half a thought"');
    await give('viewer');
    await page.getByText('Your role is now viewer.').waitFor();
    await page.getByText('People with the role operator run').waitFor();
    expect(await script.count()).toBe(0);
  });

  it('marks Now on the pages of the only router where Now has led to them, and Routers where the list has', async () => {
    await visit.signIn('operator', '/');
    const marked = (name: string) =>
      page.getByRole('navigation', { name: 'Places' }).locator('[aria-current=page]').getByText(name, { exact: true }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'router-0' }).waitFor();
    await marked('Now');
    await page.getByRole('link', { name: 'Tunnel', exact: true }).click();
    await page.waitForURL(/tunnel$/);
    await marked('Now');
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Routers' }).click();
    await marked('Routers');
    await page.getByRole('link', { name: 'router-0' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'router-0' }).waitFor();
    await marked('Routers');
    await page.getByRole('link', { name: 'Backups', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Backups' }).waitFor();
    await marked('Routers');
  });

  it('asks only for what a lowered role allows, whatever was chosen before', async () => {
    const id = await addUser(world, 'joan@example.org', 'admin');
    const give = async (role: string) => expect((await world.caller.call('PATCH', `/api/members/${id}`, { role })).status).toBe(200);
    const [routerId] = await world.routerIds();
    await visit.signInAs('joan@example.org', `/routers/${routerId}/terminal`);
    await page.getByLabel('Level').selectOption('full');
    await page.getByLabel('Reason').fill('a look');
    await give('operator');
    await page.getByText('Your role is now operator.').waitFor();
    const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/terminals'));
    await button('Open the terminal').click();
    expect((await asked).postDataJSON()).toMatchObject({ level: 'read', reason: 'a look' });
    // This world's router has no terminal.
    await (await (await asked).response())?.finished();

    await page.goto(`${visit.origin}/routers`);
    await button('Save view').click();
    await dialog().getByLabel('Name').fill('of Joan');
    await dialog().getByLabel('For everybody of the team').check();
    await give('viewer');
    await page.getByText('Your role is now viewer.').waitFor();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: /^of Joan/ }).waitFor();
    const { body } = await world.caller.call<{ data: { name: string }[] }>('GET', '/api/views?list=routers');
    expect(body.data.map(({ name }) => name)).not.toContain('of Joan');
    visit.forgiveFailedRequests();
  });

  describe('API keys', () => {
    async function create(name: string): Promise<string> {
      await button('Create API key').click();
      await dialog().getByLabel('Name').fill(name);
      await dialog().getByLabel('Role').selectOption('operator');
      await dialog().getByRole('button', { name: 'Create API key' }).click();
      return page
        .getByRole('region', { name: `Key ${name}` })
        .locator('code')
        .first()
        .innerText();
    }

    it('creates a key, shows it once, and the key works', async () => {
      await visit.signIn('admin', '/settings/keys');
      const apiKey = await create('billing');
      expect(await statusOf(apiKey)).toBe(200);
      await page.getByText(`curl -H 'Authorization: Bearer ${apiKey}' ${world.server.url}/api/routers`).waitFor();
      await button('I have it').click();
      await row('billing').getByText('operator').waitFor();
      await page.reload();
      await row('billing').waitFor();
      expect(await page.content()).not.toContain(apiKey.split(':')[2]);
    });

    it('says beside the field why a name is refused', async () => {
      await visit.signIn('admin', '/settings/keys');
      await button('Create API key').click();
      await dialog().getByLabel('Name').fill('x'.repeat(300));
      await dialog().getByRole('button', { name: 'Create API key' }).click();
      await dialog().locator('.hint.c-not').waitFor();
      expect(await dialog().getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
      visit.forgiveFailedRequests();
    });

    it('rotates a key: the new one is shown, and the old one ends when that was asked', async () => {
      await visit.signIn('admin', '/settings/keys');
      const first = await create('rotated');
      await button('I have it').click();
      await row('rotated').getByRole('button', { name: 'Rotate rotated' }).click();
      await dialog().getByLabel('The old key still works for').selectOption('0');
      await dialog().getByRole('button', { name: 'Rotate key' }).click();
      const second = await page.getByRole('region', { name: 'Key rotated' }).locator('code').first().innerText();
      expect(second).not.toBe(first);
      expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    });

    it('revokes a key, says what ended with it, and lists it among the ended ones', async () => {
      await visit.signIn('admin', '/settings/keys');
      const apiKey = await create('leaked');
      const [routerId] = await world.routerIds();
      const forward = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
      const opened = await fetch(`${world.server.url}/api/routers/${routerId}/transient-forwarding`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(forward),
      });
      expect(opened.status).toBe(200);
      await row('leaked').getByRole('button', { name: 'Revoke leaked' }).click();
      await dialog().getByText('open forwards with their connections').waitFor();
      await dialog().getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('Ended: 1 forward.').waitFor();
      expect(await statusOf(apiKey)).toBe(401);
      await page.getByRole('table', { name: 'Ended API keys' }).getByText('leaked').waitFor();
      await visit.goto('/settings/revocations');
      await row('key leaked').getByText('Ended: 1 forward.').waitFor();
    });
  });

  describe('members', () => {
    it('invites a person by a link that works, and withdraws it', async () => {
      await visit.signIn('admin', '/settings/members');
      await button('Invite a person').click();
      await dialog().getByLabel('Email address').fill('ada@example.org');
      expect(await visit.accessibilityViolations()).toEqual([]);
      await dialog().getByRole('button', { name: 'Make the link' }).click();
      const url = await page.getByRole('region', { name: 'Invitation of ada@example.org' }).locator('code').innerText();
      expect(await (await fetch(url)).text()).toContain('ada@example.org');
      await button('Withdraw the invitation of ada@example.org').click();
      await dialog().getByRole('button', { name: 'Withdraw invitation' }).click();
      await row('ada@example.org').getByText('withdrawn').waitFor();
      expect(await (await fetch(url)).text()).not.toContain('ada@example.org');
    });

    it('changes a role, switches a member off and on, makes a password link, and removes the member', async () => {
      const id = await addUser(world, 'grace@example.org', 'viewer');
      const now = async () => {
        const { body } = await world.caller.call<{ data: { id: string; role: string; active: boolean }[] }>('GET', '/api/members');
        return body.data.find((member) => member.id === id);
      };
      await visit.signIn('admin', '/settings/members');
      const change = () => button('Change grace@example.org').click();
      await change();
      await dialog().getByLabel('Role').selectOption('operator');
      await dialog().getByRole('button', { name: 'Change role' }).click();
      await row('grace@example.org').getByText('operator').waitFor();
      await change();
      await button('Switch off').click();
      await dialog().getByText('Switch off grace@example.org?').waitFor();
      await dialog().getByRole('button', { name: 'Switch off' }).click();
      await row('grace@example.org').getByText('switched off').waitFor();
      expect(await now()).toMatchObject({ role: 'operator', active: false });
      await change();
      await button('Switch on').click();
      await row('grace@example.org').getByText('active').waitFor();
      await change();
      await button('Make a password link').click();
      await dialog().getByRole('button', { name: 'Make the link' }).click();
      const url = await page.getByRole('region', { name: 'Password link for grace@example.org' }).locator('code').innerText();
      expect((await fetch(url)).status).toBe(200);
      await change();
      await button('Remove from the team').click();
      const remove = dialog().getByRole('button', { name: 'Remove from the team' });
      expect(await remove.isDisabled()).toBe(true);
      await dialog().getByLabel('Type grace@example.org to confirm').fill('grace@example.org');
      await remove.click();
      await page.getByText('grace@example.org is removed').waitFor();
      expect(await now()).toBeUndefined();
    });

    it('does not offer to switch off the last administrator, and says why', async () => {
      await visit.signIn('admin', '/settings/members');
      await button('Change admin@example.org').click();
      await dialog().getByText('The team has no other active administrator.').waitFor();
      expect(await dialog().getByRole('button').allInnerTexts()).toEqual(['']);
    });
  });

  describe('applications', () => {
    it('registers one, shows its secret once, changes it, renews the secret and removes it', async () => {
      await visit.signIn('admin', '/settings/clients');
      await button('Register application').click();
      await dialog().getByLabel('Name').fill('Tickets');
      await dialog().getByLabel('Redirect addresses').fill('http://tickets.example.net/callback');
      await dialog().getByRole('button', { name: 'Register application' }).click();
      await dialog().locator('.hint.c-not').waitFor();
      visit.forgiveFailedRequests();
      await dialog().getByLabel('Redirect addresses').fill('https://tickets.example.net/callback');
      await dialog().getByRole('button', { name: 'Register application' }).click();
      const secret = page.getByRole('region', { name: 'Secret of Tickets' }).locator('code').first();
      const first = await secret.innerText();
      await button('Change Tickets').click();
      await dialog().getByLabel('Role').selectOption('operator');
      await dialog().getByRole('button', { name: 'Save' }).click();
      await row('Tickets').getByText('operator').waitFor();
      await button('New secret Tickets').click();
      await dialog().getByRole('button', { name: 'Renew secret' }).click();
      await dialog().waitFor({ state: 'detached' });
      expect(await secret.innerText()).not.toBe(first);
      await button('Remove Tickets').click();
      await dialog().getByRole('button', { name: 'Remove application' }).click();
      await page.getByText('Tickets is removed').waitFor();
    });
  });

  it('makes a webhook secret and shows it once', async () => {
    await visit.signIn('admin', '/settings/webhook');
    await button('Make a secret').click();
    await dialog().getByText('It is shown once.').waitFor();
    await dialog().getByRole('button', { name: 'Make the secret' }).click();
    expect(await page.getByRole('region', { name: 'Webhook secret' }).locator('code').innerText()).toMatch(/^whsec_/);
    await page.getByText('The secret is of').waitFor();
    await button('Make a new secret').click();
    await dialog().getByLabel('Updates are also signed with the old secret for').waitFor();
  });

  it('tells the audit log in sentences, filtered by its address', async () => {
    await world.caller.call('POST', '/api/sites', { name: 'Riga' });
    await visit.signIn('admin', '/settings/audit');
    await row('key test made a site').filter({ hasText: 'Riga' }).first().waitFor();
    await row('admin@example.org signed in').first().waitFor();
    await page.getByLabel('What').selectOption('sign-ins');
    await row('made a site').first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('action')).toBe('login');
    await page.reload();
    await row('admin@example.org signed in').first().waitFor();
    expect(await row('made a site').count()).toBe(0);
    await visit.goto('/settings/audit?from=2019-01-01&to=2019-01-02');
    await page.getByText('Nothing matches.').waitFor();
    const elsewhere = await Visit.start(browser, world, { timezoneId: 'Europe/Riga' });
    await elsewhere.signIn('admin', '/settings/audit');
    await elsewhere.page.getByText('Days of Europe/Riga').waitFor();
    await elsewhere.end();
  });

  it('lists enrolment tokens and revokes an open one', async () => {
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/enrol-tokens', {});
    await visit.signIn('admin', '/settings/enrolment');
    await page.getByText('No router waits.').waitFor();
    await button(`Revoke the token ${body.data.id}`).click();
    await dialog().getByRole('button', { name: 'Revoke token' }).click();
    await row(body.data.id).getByText('revoked').waitFor();
  });

  describe('the own page', () => {
    it('keeps the chosen theme in the browser', async () => {
      await visit.signIn('viewer', '/me');
      await page.getByLabel('Dark').check();
      await page.reload();
      await page.getByRole('heading', { name: 'viewer@example.org' }).waitFor();
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    });

    it('keeps theme and time zone for the person, in every browser, beside what other programs keep there', async () => {
      await addUser(world, 'grace@example.org', 'viewer');
      await visit.signInAs('grace@example.org', '/me');
      await page.getByLabel('Times in the zone').selectOption('America/New_York');
      await page.getByLabel('Dark').check();
      const kept = await waitUntil('both are kept', async () => {
        const rows = await world.server.services.storage.db.selectFrom('preferences').selectAll().execute();
        return rows.find(({ content }) => content.includes('New_York') && content.includes('dark'));
      });
      expect(JSON.parse(kept.content)).toEqual({ console: { theme: 'dark', time_zone: 'America/New_York' } });
      const elsewhere = await Visit.start(browser, world);
      try {
        await elsewhere.signInAs('grace@example.org', '/me');
        expect(await elsewhere.page.locator('html').getAttribute('data-theme')).toBe('dark');
        expect(await elsewhere.page.getByLabel('Times in the zone').inputValue()).toBe('America/New_York');
        await elsewhere.goto('/routers');
        expect(await elsewhere.page.locator('h1').count()).toBe(1);
      } finally {
        await elsewhere.end();
      }
    });

    it('keeps the time zone that one tab has chosen when another one, open before, chooses a theme', async () => {
      await addUser(world, 'edith@example.org', 'viewer');
      await visit.signInAs('edith@example.org', '/me');
      const other = await visit.newTab('/me');
      const kept = (what: string) =>
        waitUntil(`${what} is kept`, async () => {
          const rows = await world.server.services.storage.db.selectFrom('preferences').selectAll().execute();
          return rows.find(({ content }) => content.includes(what));
        });
      await page.getByLabel('Times in the zone').selectOption('Asia/Tokyo');
      await kept('Asia/Tokyo');
      await other.getByLabel('Light').check();
      expect(JSON.parse((await kept('light')).content)).toEqual({ console: { theme: 'light', time_zone: 'Asia/Tokyo' } });
    });

    it('changes the password, which ends the session', async () => {
      await addUser(world, 'linus@example.org', 'viewer');
      await visit.signInAs('linus@example.org', '/me');
      await page.getByLabel('Present password').fill('not the password');
      await page.getByLabel('New password').fill('another long password');
      await button('Change password').click();
      await page.locator('.c-not').first().waitFor();
      await page.getByLabel('Present password').fill(PASSWORD);
      await button('Change password').click();
      await visit.signInAs('linus@example.org', undefined, 'another long password');
      visit.forgiveFailedRequests();
    });

    it('leaves the team, after its name was typed', async () => {
      const id = await addUser(world, 'leaving@example.org', 'viewer');
      await visit.signInAs('leaving@example.org', '/me');
      await button('Leave the team').click();
      await dialog().getByLabel('Type Test to confirm').fill('Test');
      await dialog().getByRole('button', { name: 'Leave the team' }).click();
      await page.getByLabel('Email address').waitFor();
      const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/members');
      expect(body.data.some((member) => member.id === id)).toBe(false);
      visit.forgiveFailedRequests();
    });

    it('knows on its first sign-in the address that the invitation was for', async () => {
      await page.goto((await invite(world.caller, 'grace+hopper@example.org')).url);
      await page.getByLabel('New password', { exact: true }).fill('battery staple');
      await page.getByLabel('New password again').fill('battery staple');
      await button('Join the team').click();
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('Password').waitFor();
      expect(await page.getByLabel('Email address').inputValue()).toBe('grace+hopper@example.org');
      await visit.fillSignIn('grace+hopper@example.org', 'battery staple');
      await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
      expect(new URL(page.url()).hash).toBe('');
    });

    it('signs out to a page that asks for nothing', async () => {
      await visit.signIn('viewer', '/me');
      await page.locator('main').getByRole('button', { name: 'Sign out' }).click();
      // The provider asks, because another site could send the browser there.
      await page.getByRole('heading', { name: 'Sign out?' }).waitFor();
      await button('Sign out').click();
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      await page.getByRole('link', { name: 'Sign in again' }).click();
      await page.getByLabel('Email address').waitFor();
    });

    it('signs out every tab of the browser', async () => {
      await visit.signIn('viewer', '/sites');
      const other = await visit.newTab('/me');
      await other.locator('main').getByRole('button', { name: 'Sign out' }).click();
      await other.getByRole('button', { name: 'Sign out' }).click();
      await other.getByRole('heading', { name: 'You are signed out' }).waitFor();
      await page.getByLabel('Email address').waitFor();
    });

    it('leads to the sign-in from an open page when the session is over', async () => {
      const id = await addUser(world, 'ida@example.org', 'viewer');
      await visit.signInAs('ida@example.org', '/sites');
      await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
      expect((await world.caller.call('DELETE', `/api/members/${id}`)).status).toBe(204);
      await page.getByLabel('Email address').waitFor();
      visit.forgiveFailedRequests();
    });
  });

  it.each([
    ['light', 'rgb(251, 251, 249)'],
    ['dark', 'rgb(14, 17, 19)'],
  ] as const)('has the surface of the %s theme', async (colorScheme, surface) => {
    await page.emulateMedia({ colorScheme });
    // Nobody has chosen a theme for this person.
    await visit.signIn('operator', '/settings/team');
    await expect.poll(() => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe(surface);
  });

  it.each([
    ['light', 'rgb(26, 90, 203)'],
    ['dark', 'rgb(127, 179, 255)'],
  ] as const)("has the browser's own controls in the %s theme", async (colorScheme, accent) => {
    await page.emulateMedia({ colorScheme });
    await visit.signIn('operator', '/me');
    for (const control of ['input[type=radio]', 'select']) {
      const look = `(({ colorScheme, accentColor }) => [colorScheme, accentColor])(getComputedStyle(document.querySelector('${control}')))`;
      await expect.poll(() => page.evaluate<string[]>(look), { message: control }).toEqual([colorScheme, accent]);
    }
  });

  it('stands the texts of a row on one line, those of its buttons too, and the heads over them', async () => {
    await visit.signIn('admin', '/settings/members');
    await row('viewer@example.org').waitFor();
    const lines = await page.evaluate<number[][]>(BASELINES);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(Math.max(...line) - Math.min(...line)).toBeLessThan(0.6);
    const ends = await page.evaluate<number[]>(ENDS);
    expect(Math.max(...ends) - Math.min(...ends)).toBeLessThan(1);
  });

  it('shows a viewer the team and its members without a single button to change them, and says who may do more', async () => {
    await visit.signIn('viewer', '/settings');
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allInnerTexts()).toEqual(['Team', 'Members']);
    await visit.goto('/settings/members');
    await row('admin@example.org').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    await visit.goto('/settings/keys');
    await page.getByText('Ask admin@example.org').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });
});
