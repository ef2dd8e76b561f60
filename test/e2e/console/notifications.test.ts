import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import { checkSms } from '../../harness/notify/providers.ts';
import { ProviderStandIn } from '../../harness/notify/stand-in.ts';
import { TelegramBotStandIn } from '../../harness/notify/telegram-bot.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import type { World } from '../../harness/world.ts';

/** Who is told of what, where, when and by which way, as people set it up in the console. */

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  /** Stands for every receiver of a webhook. */
  let receiver: WebhookReceiver;
  let telegram: TelegramBotStandIn;
  let texts: ProviderStandIn;
  let folder: string;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    telegram = await TelegramBotStandIn.start('123:secret');
    texts = await ProviderStandIn.start(checkSms, { status: 201, body: { sid: 'SM1' } });
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-notify-'));
    await writeFile(path.join(folder, 'telegram'), '123:secret');
    world = await startConsoleWorld({
      routers: [{ identity: 'edge-1' }],
      server: {
        SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000',
        SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'true',
        SIGNALBOX_TELEGRAM_TOKEN_FILE: path.join(folder, 'telegram'),
        SIGNALBOX_TELEGRAM_URL: telegram.url,
        SIGNALBOX_SMS_ACCOUNT: 'AC1',
        SIGNALBOX_SMS_TOKEN_FILE: path.join(folder, 'telegram'),
        SIGNALBOX_SMS_FROM: '+15550100',
        SIGNALBOX_SMS_URL: texts.url,
      },
    });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await receiver?.close();
    await telegram?.close();
    await texts?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
  });
  afterEach(() => visit.end());

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const dialog = () => page.getByRole('dialog');
  const press = (name: string | RegExp) => dialog().getByRole('button', { name }).click();
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const closed = () => dialog().waitFor({ state: 'detached' });
  const saveIn = async (tab: Page) => {
    await tab.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const make = async (at: string, content: object): Promise<{ id: string }> => {
    const { status, body } = await world.caller.call<{ data?: { id: string }; id?: string }>('POST', at, content);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data ?? { id: body.id! };
  };
  /** The digits of the message that arrived last. */
  const digits = (): string => /\b\d{6}\b/.exec(receiver.received.at(-1)!.body)![0];

  describe('groups', () => {
    it('says what would be there, makes a group, and each part of it is changed on its page', async () => {
      const { id: topic } = await make('/api/topics', { name: 'Outages', events: ['fault.router_offline', 'fault.agent_offline'] });
      const { id: site } = await make('/api/sites', { name: 'Depot Madrid' });
      await make('/api/schedules', {
        name: 'Office hours',
        time_zone: 'Europe/Madrid',
        windows: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => ({ day, from: 480, to: 1080 })),
      });
      await visit.signIn('admin', '/notifications');
      await page.getByText('Nobody is told of anything.').waitFor();
      await button('Make a group').click();
      await dialog().getByLabel('Name').fill('On call');
      await dialog().getByLabel('Outages').check();
      await press('Make the group');
      await page.getByRole('heading', { name: 'On call' }).waitFor();
      await page.getByText('admin@example.org would be told of Outages everywhere, at any time.').waitFor();
      await page.getByText('reaches nobody').waitFor();
      await row('admin@example.org').getByText('not confirmed').waitFor();

      await button('Change sites').click();
      await dialog().getByLabel('Depot Madrid').check();
      await press('Save');
      await closed();
      await button('Change times').click();
      await dialog().getByLabel('Only in the times of a schedule').check();
      await press('Save');
      await closed();
      await button('Change people').click();
      await dialog().getByLabel('Person').selectOption('operator@example.org');
      await dialog().getByLabel('How').selectOption('by Telegram');
      await press('Add');
      await press('Save');
      await closed();
      await page
        .getByText(
          'admin@example.org and operator@example.org (by Telegram) would be told of Outages at Depot Madrid, Mondays to Fridays 08:00–18:00 (Europe/Madrid).',
        )
        .waitFor();
      await row('operator@example.org').getByText('no address', { exact: true }).waitFor();

      const { body } = await world.caller.call<{ data: object[] }>('GET', '/api/groups');
      expect(body.data).toMatchObject([{ name: 'On call', topics: [topic], sites: [site], mute: 'schedule-active' }]);

      await button('Rename').click();
      await dialog().getByLabel('Name').fill('Day shift');
      await press('Save');
      await page.getByRole('heading', { name: 'Day shift' }).waitFor();
      await button('Remove').click();
      await press('Remove the group');
      await page.getByText('Nobody is told of anything.').waitFor();
    });

    it('keeps whom one tab has added when another one, whose form was open before, adds somebody else', async () => {
      const people = await world.caller.call<{ data: { id: string; email: string }[] }>('GET', '/api/members');
      const idOf = (email: string) => people.body.data.find((person) => person.email === email)!.id;
      const { id } = await make('/api/groups', { name: 'Two tabs', recipients: [idOf('admin@example.org')] });
      await visit.signIn('admin', `/notifications/groups/${id}`);
      const other = await visit.newTab(`/notifications/groups/${id}`);
      const add = async (tab: Page, email: string) => {
        await tab.getByRole('dialog').getByLabel('Person').selectOption(email);
        await tab.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
        await saveIn(tab);
      };
      for (const tab of [other, page]) await tab.getByRole('button', { name: 'Change people' }).click();
      await add(page, 'viewer@example.org');
      await add(other, 'operator@example.org');
      const { body } = await world.caller.call<{ recipients: string[] }>('GET', `/api/groups/${id}`);
      const all = ['admin@example.org', 'viewer@example.org', 'operator@example.org'].map(idOf);
      expect(body.recipients.toSorted()).toEqual(all.toSorted());
      await world.caller.call('DELETE', `/api/groups/${id}`);
    });

    it('lets another group follow when nobody acknowledges, and refuses a loop beside the field', async () => {
      const { id: first } = await make('/api/groups', { name: 'First' });
      const { id: second } = await make('/api/groups', { name: 'Second', escalate_to: first, escalate_after_minutes: 5 });
      await visit.signIn('admin', `/notifications/groups/${second}`);
      await page.getByText('After 5 minutes, First is told.').waitFor();
      await visit.goto(`/notifications/groups/${first}`);
      await page.getByRole('region').or(page.locator('section')).filter({ hasText: 'If nobody takes it over' }).getByRole('button').click();
      await dialog().getByLabel('Tell').selectOption('Second');
      await press('Save');
      await dialog().locator('.c-not').first().waitFor();
      expect(await dialog().getByLabel('Tell').getAttribute('aria-invalid')).toBe('true');
      visit.forgiveFailedRequests();
      for (const id of [second, first]) await world.caller.call('DELETE', `/api/groups/${id}`);
    });

    it('shows a viewer the same, without anything to press', async () => {
      const { id } = await make('/api/groups', { name: 'Seen' });
      await visit.signIn('viewer', '/notifications/groups');
      await page.getByRole('link', { name: 'Seen', exact: true }).click();
      await page.getByRole('heading', { name: 'Seen' }).and(page.locator('h1')).waitFor();
      await page.getByText('It names nobody').waitFor();
      expect(await page.locator('main').getByRole('button').count()).toBe(0);
      await world.caller.call('DELETE', `/api/groups/${id}`);
    });
  });

  describe('channels', () => {
    it('adds a webhook, proves it by the code that arrived there, and a group reaches it', async () => {
      receiver.reply = 204;
      await visit.signIn('admin', '/notifications/channels');
      await page.getByText('No channel yet.').waitFor();
      await button('Add a channel').click();
      await dialog().getByLabel('Kind').selectOption('webhook');
      await dialog().getByLabel('Address').fill(`${receiver.url}/noc`);
      await dialog().getByLabel('Name').fill('Ticket system');
      await press('Add it');
      await press('Send the code');
      await dialog().getByText('Sent. The code can be used until').waitFor();
      await dialog().getByLabel('The six digits').fill('000000');
      await press('Confirm it');
      await dialog().getByText('is not the code that was sent').waitFor();
      await dialog().getByLabel('The six digits').fill(digits());
      await press('Confirm it');
      await closed();
      await row('Ticket system').getByText('confirmed').waitFor();
      expect(await row('Ticket system').innerText()).not.toContain('/noc');

      const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/notification-targets');
      const { id } = await make('/api/groups', { name: 'Robots', targets: body.data.map((target) => target.id) });
      await visit.goto(`/notifications/groups/${id}`);
      await row('webhook Ticket system').getByText('reached').waitFor();
      await visit.goto('/notifications/channels');
      await row('Ticket system').getByRole('button', { name: 'Remove' }).click();
      await dialog().getByText('It is taken out of Robots').waitFor();
      await press('Remove the channel');
      await page.getByText('No channel yet.').waitFor();
      await world.caller.call('DELETE', `/api/groups/${id}`);
      visit.forgiveFailedRequests();
    });

    it("says why a receiver did not take the code, in the receiver's words, and why an address is refused", async () => {
      receiver.reply = (response) => response.writeHead(403).end('no such token');
      await visit.signIn('admin', '/notifications/channels');
      await button('Add a channel').click();
      await dialog().getByLabel('Kind').selectOption('webhook');
      await dialog().getByLabel('Address').fill('http://10.0.0.1/x');
      await dialog().getByLabel('Name').fill('Refusing');
      await press('Add it');
      await dialog().locator('.hint.c-not').filter({ hasText: 'https://' }).waitFor();
      await dialog().getByLabel('Address').fill(`${receiver.url}/refusing`);
      await press('Add it');
      await press('Send the code');
      await dialog().getByText('Not sent: it refused the key or token.').waitFor();
      await page.keyboard.press('Escape');
      await row('Refusing').getByText('not confirmed').waitFor();
      await row('Refusing').getByRole('button', { name: 'Remove' }).click();
      await press('Remove the channel');
      await page.getByText('No channel yet.').waitFor();
      visit.forgiveFailedRequests();
    });
  });

  it('says in a question what could not be read for it, claims nothing of it, and reads it at Try again', async () => {
    const broken = /\/api\/(topics|sites|groups|me\/contacts)(\?|$)/;
    const breakDown = () => page.route(broken, (route) => route.fulfill({ status: 500, body: '{"code":"internal","message":"broken"}' }));
    const again = dialog().getByRole('button', { name: 'Try again' });
    const { id: channel } = await make('/api/notification-targets', {
      name: 'Tickets',
      channel: 'webhook',
      address: { url: `${receiver.url}/tickets` },
    });
    const { id: topic } = await make('/api/topics', { name: 'Reboots', events: ['fault.rebooted'] });
    const { id: group } = await make('/api/groups', { name: 'Uses it', targets: [channel] });
    await visit.signIn('admin', '/notifications/channels');
    await breakDown();
    await row('Tickets').getByRole('button', { name: 'Remove' }).click();
    await dialog().getByText('Which groups use it cannot be read now.').waitFor();
    expect(await dialog().innerText()).not.toContain('No group uses it');
    await page.unroute(broken);
    await again.click();
    await dialog().getByText('It is taken out of Uses it').waitFor();

    await breakDown();
    await visit.goto('/notifications/groups');
    await page.getByText('Groups cannot be read now.').waitFor();
    await button('Make a group').click();
    await dialog().getByText('Topics cannot be read now.').waitFor();
    await page.unroute(broken);
    await again.click();
    await dialog().getByLabel('Reboots').waitFor();

    await breakDown();
    await visit.goto('/notifications/silences?site=01a1fba1-77c3-7e02-b5d4-2f8a6c0e4d91');
    await dialog().getByText('Sites cannot be read now.').waitFor();
    await page.unroute(broken);
    await again.click();
    await dialog().getByLabel('Site').waitFor();

    await breakDown();
    await visit.goto('/me/notifications');
    await page.getByText('Whether this browser is told cannot be read now.').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('does not show notifications');
    for (const at of [`groups/${group}`, `topics/${topic}`, `notification-targets/${channel}`])
      await world.caller.call('DELETE', `/api/${at}`);
    visit.forgiveFailedRequests();
  });

  it('shows on a phone which place and which part is open, however far right it stands', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visit.signIn('viewer', '/notifications/silences');
    for (const [line, name] of [
      ['Places', 'Notifications'],
      ['Notifications', 'Silences'],
    ] as const) {
      const link = page.getByRole('navigation', { name: line }).getByRole('link', { name, exact: true });
      await waitUntil(`${name} is in sight`, async () => {
        const { x, width } = (await link.boundingBox())!;
        return x >= 0 && x + width <= 390;
      });
    }
  });

  it('says on a phone at which end of the places there are more, and keeps the open one in sight when the phone is turned', async () => {
    const places = page.getByRole('navigation', { name: 'Places' });
    const ends = () => places.evaluate(({ dataset }: { dataset: Record<string, string> }) => Object.keys(dataset).sort());
    await page.setViewportSize({ width: 390, height: 844 });
    await visit.signIn('viewer', '/');
    await expect.poll(ends).toEqual(['moreAfter']);
    await visit.goto('/faults');
    await expect.poll(ends).toEqual(['moreAfter', 'moreBefore']);
    await page.setViewportSize({ width: 844, height: 390 });
    await page.setViewportSize({ width: 390, height: 844 });
    const link = places.getByRole('link', { name: 'Faults' });
    await waitUntil('the place is in the middle', async () => {
      const { x, width } = (await link.boundingBox())!;
      return Math.abs(x + width / 2 - 195) < 2;
    });
    await visit.goto('/me');
    await expect.poll(ends).toEqual(['moreBefore']);
    // All of them fit.
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect.poll(ends).toEqual([]);
  });

  it('makes topics of kinds in words, and schedules of days and hours', async () => {
    await visit.signIn('admin', '/notifications/topics');
    await button('Make a topic').click();
    await dialog().getByLabel('Name').fill('Jobs that went wrong');
    await dialog().getByLabel('a job has failed').check();
    await dialog().getByLabel('nobody knows what became of a job').check();
    await press('Make the topic');
    await row('Jobs that went wrong').getByText('a job has failed, nobody knows what became of a job').waitFor();
    await button('Change Jobs that went wrong').click();
    await dialog().getByRole('group', { name: 'Jobs' }).getByLabel('all of them, also those to come').check();
    await press('Save');
    await row('Jobs that went wrong').getByText('everything about jobs').waitFor();

    await visit.goto('/notifications/schedules');
    await button('Make a schedule').click();
    await dialog().getByLabel('Name').fill('Night shift');
    await dialog().getByLabel('Time zone').selectOption('Europe/Berlin');
    await dialog().getByLabel('saturday').check();
    await dialog().getByLabel('From').fill('22:00');
    await dialog().getByLabel('to', { exact: true }).fill('06:00');
    await dialog().getByText('Mondays to Saturdays 22:00–06:00 the next day').waitFor();
    await press('Make the schedule');
    await closed();
    await page.getByText('Mondays to Saturdays 22:00–06:00 the next day (Europe/Berlin).').waitFor();
    const { body } = await world.caller.call<{ data: { name: string; windows: object[] }[] }>('GET', '/api/schedules');
    const made = body.data.find(({ name }) => name === 'Night shift')!;
    expect(made.windows).toHaveLength(6);
    expect(made.windows[5]).toEqual({ day: 'saturday', from: 1320, to: 360 });
  });

  it('keeps the name and the kinds that one tab gave a topic when another one adds a kind', async () => {
    const { id } = await make('/api/topics', { name: 'Backups', events: ['job.failed'] });
    await visit.signIn('admin', '/notifications/topics');
    const other = await visit.newTab('/notifications/topics');
    for (const tab of [other, page]) await tab.getByRole('button', { name: 'Change Backups' }).click();
    await dialog().getByLabel('Name').fill('Jobs');
    await dialog().getByLabel('nobody knows what became of a job').check();
    await saveIn(page);
    await other.getByRole('dialog').getByLabel('a job has expired').check();
    await saveIn(other);
    const { body } = await world.caller.call<{ data: object }>('GET', `/api/topics/${id}`);
    expect(body.data).toMatchObject({ name: 'Jobs', events: ['job.failed', 'job.unknown', 'job.expired'] });
    await world.caller.call('DELETE', `/api/topics/${id}`);
  });

  it('silences a router from its page, shows it there, and ends the silence early', async () => {
    await visit.signIn('operator', '/routers');
    await page.getByRole('link', { name: 'edge-1' }).first().click();
    await page.getByRole('link', { name: 'Silence notifications' }).click();
    await dialog().getByLabel('Why').fill('Change of the core switch');
    await dialog().getByLabel('For').selectOption('an hour');
    await press('Silence it');
    await closed();
    await row('Change of the core switch').getByText('silent now').waitFor();
    await row('Change of the core switch').getByRole('link', { name: 'edge-1' }).click();
    await page.getByText('Silenced until').waitFor();
    await page.goBack();
    await button('End the silence: Change of the core switch').click();
    await press('End it');
    await page.getByText('Nothing is silenced.').waitFor();
  });

  describe('what somebody else changes', () => {
    it('is on the pages of another person without a reload', async () => {
      const group = await make('/api/groups', { name: 'Night watch' });
      await visit.signIn('viewer', '/notifications');
      await page.getByText('Night watch').first().waitFor();
      const other = await Visit.start(browser, world);
      await other.signIn('admin', `/notifications/groups/${group.id}`);
      await other.page.getByRole('button', { name: 'Rename' }).click();
      await other.page.getByRole('dialog').getByLabel('Name').fill('Day watch');
      await other.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByText('Day watch').first().waitFor();
      await other.end();

      const follow = async (link: string, { path: at, content, change }: { path: string; content: { name: string }; change: object }) => {
        await page.getByRole('navigation', { name: 'Notifications' }).getByRole('link', { name: link }).click();
        await page.getByRole('heading', { name: link }).waitFor();
        const { id } = await make(at, content);
        await page.getByText(content.name, { exact: true }).waitFor();
        await world.caller.call('PATCH', `${at}/${id}`, change);
        await page.getByText('Another name', { exact: true }).waitFor();
        await world.caller.call('DELETE', `${at}/${id}`);
        await page.getByText('Another name', { exact: true }).waitFor({ state: 'detached' });
      };
      const change = { name: 'Another name' };
      const outages = { name: 'Lost links', events: ['fault.router_offline'] };
      await follow('Topics', { path: '/api/topics', content: outages, change });
      const nights = { name: 'Nights', time_zone: 'Europe/Riga', windows: [{ day: 'monday', from: 0, to: 480 }] };
      await follow('Schedules', { path: '/api/schedules', content: nights, change });
      const webhook = { name: 'Alarm desk', channel: 'webhook', address: { url: `${receiver.url}/alarms` } };
      await follow('Channels', { path: '/api/notification-targets', content: webhook, change });

      await page.getByRole('navigation', { name: 'Notifications' }).getByRole('link', { name: 'Silences' }).click();
      const silence = await make('/api/silences', { reason: 'a new rack', until: new Date(Date.now() + 3_600_000).toISOString() });
      await page.getByText('a new rack').waitFor();
      await world.caller.call('DELETE', `/api/silences/${silence.id}`);
      await page.getByText('a new rack').waitFor({ state: 'detached' });
      await world.caller.call('DELETE', `/api/groups/${group.id}`);
    });
  });

  describe('own addresses', () => {
    it('adds one, and proves it by the digits that arrived', async () => {
      await addUser(world, 'grace@example.org', 'viewer');
      await visit.signInAs('grace@example.org', '/me/notifications');
      await button('Add an address').click();
      await dialog().getByLabel('Kind').selectOption('text message');
      await dialog().getByLabel('Telephone number').fill('+34 600 123 456');
      await press('Add it');
      await press('Send the code');
      await dialog().getByText('Sent. The code can be used until').waitFor();
      await dialog()
        .getByLabel('The six digits')
        .fill(/\b\d{6}\b/.exec(texts.requests[0]!.body.toString())![0]);
      await press('Confirm it');
      await closed();
      await row('+34600123456').getByText('confirmed').waitFor();
    });

    it('shows why nobody can see that a link was opened, and gives another one when it has ended', async () => {
      const userId = await addUser(world, 'alan@example.org', 'viewer');
      telegram.hasWebhook = true;
      await visit.signInAs('alan@example.org', '/me/notifications');
      await button('Add an address').click();
      await dialog().getByLabel('Kind').selectOption('Telegram');
      await press('Get the link');
      await dialog().getByText('The bot is used by another program as well').waitFor();
      telegram.hasWebhook = false;
      await waitUntil('the bot is asked again', () => telegram.waiting > 0);
      telegram.endWait();
      await dialog().getByText('Waiting until you press Start').waitFor();
      // In another tab.
      await world.server.services.telegramLinks.create({ teamId: world.caller.teamId, userId });
      await press('Get another link');
      await press('Get the link');
      await dialog().getByText('Waiting until you press Start').waitFor();
      await press('Later');
      await closed();
    });

    it('adds a Telegram chat by a link, switches it off and on, and removes it', async () => {
      await addUser(world, 'ada@example.org', 'viewer');
      await visit.signInAs('ada@example.org', '/me/notifications');
      await row('ada@example.org').getByText('not confirmed').waitFor();
      await button('Add an address').click();
      await dialog().getByLabel('Kind').selectOption('Telegram');
      await press('Get the link');
      await dialog().getByText('Waiting until you press Start').waitFor();
      const link = await dialog().getByRole('link', { name: 'Open the link in Telegram' }).getAttribute('href');
      await dialog().getByText(link!).waitFor();
      telegram.write({ chatId: 4711, text: `/start ${new URL(link!).searchParams.get('start')}`, at: Date.now() });
      await dialog().getByText('Your chat is confirmed').waitFor();
      await press('Done');
      await closed();
      await row('4711').getByText('confirmed').waitFor();
      await row('4711').getByRole('button', { name: 'Switch off' }).click();
      await row('4711').getByText('by you').waitFor();
      await row('4711').getByRole('button', { name: 'Switch on' }).click();
      await row('4711').getByText('confirmed').waitFor();
      await page.getByLabel('Groups tell you by').selectOption('Telegram');
      await page.getByLabel('Language of messages').selectOption('Español');
      await page.getByLabel('Your time zone').selectOption('Pacific/Auckland');
      await page.getByLabel(/^Quiet hours/).check();
      await page.getByLabel('From').fill('21:30');
      await page.getByLabel('News that can wait').selectOption('come together, once a day');
      await page.getByLabel('Every day at').fill('06:45');
      await page.getByText('Can wait as well: nothing yet').click();
      await page.getByLabel('a job is done').check();
      await button('Save').click();
      await page.getByText('Saved.').waitFor();
      await page.reload();
      await page.getByText('Can wait as well: a job is done').waitFor();
      expect(await page.getByLabel('Every day at').inputValue()).toBe('06:45');
      await expect.poll(() => page.getByLabel('From').inputValue()).toBe('21:30');
      expect(await page.getByLabel('Your time zone').inputValue()).toBe('Pacific/Auckland');
      await page.getByText('Can wait as well: a job is done').click();
      await page.getByLabel('Everything that can happen').check();
      await button('Save').click();
      await page.getByText('Saved.').waitFor();
      await page.reload();
      await page.getByText('Can wait as well: everything', { exact: true }).click();
      expect(await page.getByLabel('Everything that can happen').isChecked()).toBe(true);
      expect(await page.getByLabel('a job is done').count()).toBe(0);
      await row('4711').getByRole('button', { name: 'Remove' }).click();
      await press('Remove the address');
      await row('4711').waitFor({ state: 'detached' });
    });

    it('keeps the language that one tab has chosen when another one, open before, sets quiet hours, and shows it there', async () => {
      await addUser(world, 'edith@example.org', 'viewer');
      await visit.signInAs('edith@example.org', '/me/notifications');
      const other = await visit.newTab('/me/notifications');
      await other.getByLabel(/^Quiet hours/).check();
      await page.getByLabel('Language of messages').selectOption('Deutsch');
      await button('Save').click();
      await page.getByText('Saved.').waitFor();
      await other.getByLabel('From').fill('21:30');
      await other.getByRole('button', { name: 'Save' }).click();
      await other.getByText('Saved.').waitFor();
      expect(await other.getByLabel('Language of messages').inputValue()).toBe('de');
      await page.reload();
      await expect.poll(() => page.getByLabel('From').inputValue()).toBe('21:30');
      expect(await page.getByLabel('Language of messages').inputValue()).toBe('de');
    });

    it('says so when the control plane has no account for a channel', async () => {
      await visit.signIn('viewer', '/me/notifications');
      await page.getByText('cannot send by email yet. Its operator sets SIGNALBOX_SMTP_URL').waitFor();
      await button('Add an address').click();
      await dialog().getByLabel('Kind').selectOption('WhatsApp');
      await dialog().getByText('cannot send by WhatsApp yet').waitFor();
      await dialog().getByLabel('Kind').selectOption('text message');
      await dialog().getByText('cannot send by').waitFor({ state: 'detached' });
      await press('Cancel');
      await row('viewer@example.org').getByText('not confirmed').waitFor();
      expect(await row('viewer@example.org').getByRole('button', { name: 'Confirm' }).count()).toBe(0);
    });
  });
});
