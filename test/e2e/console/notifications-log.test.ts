import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { PHONE, Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import type { World } from '../../harness/world.ts';

/** Who was told of what, and why somebody was not. */

type SizeOfText = Record<'scrollWidth' | 'clientWidth' | 'scrollHeight' | 'clientHeight', number>;

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let receiver: WebhookReceiver;
  let groupId: string;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    world = await startConsoleWorld({
      routers: [{}],
      server: {
        SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000',
        SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'true',
        SIGNALBOX_OFFLINE_AFTER_SECONDS: '4',
        SIGNALBOX_HEARTBEAT_SECONDS: '2',
      },
    });
    browser = await launchChromium();
    groupId = await makeGroup();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await receiver?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
  });
  afterEach(() => visit.end());

  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const ask = async (method: string, at: string, content?: object): Promise<{ id: string }> => {
    const { status, body } = await world.caller.call<{ data?: { id: string }; id?: string }>(method, at, content);
    expect(status, `${at} ${JSON.stringify(body)}`).toBe(200);
    return body.data ?? { id: body.id! };
  };

  /** A proved webhook, and a person who has not proved anything. */
  async function makeGroup(): Promise<string> {
    const address = { url: `${receiver.url}/tickets` };
    const { id: target } = await ask('POST', '/api/notification-targets', { name: 'Tickets', channel: 'webhook', address });
    await ask('POST', `/api/notification-targets/${target}/send-code`);
    const code = /\b\d{6}\b/.exec(receiver.received.at(-1)!.body)![0];
    await ask('POST', `/api/notification-targets/${target}/verify`, { code });
    const { id: topic } = await ask('POST', '/api/topics', { name: 'Forwards', events: ['forward.created', 'fault.agent_offline'] });
    const { body } = await world.caller.call<{ data: { id: string; email: string }[] }>('GET', '/api/members');
    const { id: viewer } = body.data.find(({ email }) => email === 'viewer@example.org')!;
    const { id } = await ask('POST', '/api/groups', { name: 'On call', targets: [target], recipients: [viewer], topics: [topic] });
    return id;
  }

  async function openForward(): Promise<void> {
    const [routerId] = await world.routerIds();
    await ask('POST', `/api/routers/${routerId}/transient-forwarding`, {
      expire_after_minutes: 10,
      dst_port: 80,
      dst_address: '127.0.0.1',
      allow_from: '127.0.0.1',
    });
  }

  it('says what would be there before anything has happened', async () => {
    await visit.signIn('viewer', '/notifications/log');
    await page.getByText('Nothing has happened that a group is told of.').waitFor();
    await visit.goto('/notifications/threads');
    await page.getByText('Nothing is open that a group follows.').waitFor();
  });

  it('lists what was sent and what was not, with the reason, and filters it by its address', async () => {
    await openForward();
    await waitUntil('the webhook is told', async () => receiver.received.some(({ type }) => type.startsWith('notification.open')));
    await visit.signIn('viewer', '/notifications/log');
    await row('Tickets').getByText('sent', { exact: true }).waitFor();
    await row('viewer@example.org').getByText('not sent').waitFor();
    await row('viewer@example.org').getByText('the address is not confirmed').waitFor();
    // On a phone, too, what became of a message is the point of its row.
    await page.setViewportSize(PHONE);
    await row('viewer@example.org').getByText('not sent').waitFor();
    await waitUntil('its reason is whole, and the rows below have made room', async () => {
      const [upper, lower] = [(await row('Tickets').boundingBox())!, (await row('viewer@example.org').boundingBox())!].toSorted(
        (a, b) => a.y - b.y,
      );
      const isWhole = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: SizeOfText) =>
        scrollWidth <= clientWidth && scrollHeight <= clientHeight;
      return (await row('viewer@example.org').getByRole('cell').last().evaluate(isWhole)) && upper!.y + upper!.height <= lower!.y + 1;
    });
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('combobox', { name: /^State/ }).selectOption('not sent by a decision');
    await row('Tickets').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?state=withheld');
    await page.reload();
    await row('viewer@example.org').waitFor();
    await page.getByRole('combobox', { name: /^To/ }).selectOption('webhook Tickets');
    await page.getByText('No message matches.').waitFor();
  });

  it('shows a thread: what is in it, and everybody who was told or not', async () => {
    await visit.signIn('viewer', `/notifications/log?group=${groupId}`);
    await row('Tickets').getByRole('link').click();
    await page.getByRole('heading', { name: 'Who was told' }).waitFor();
    await row('Tickets').getByText('sent', { exact: true }).waitFor();
    await row('viewer@example.org').getByText('the address is not confirmed').waitFor();
    await page.getByText(/The group follows it by the topics? /).waitFor();
    await page.getByText('for the group').getByRole('link', { name: 'On call' }).click();
    await page.getByRole('heading', { name: 'On call' }).waitFor();
    await visit.goto('/notifications/threads?state=all');
    await page.getByRole('table', { name: 'Threads' }).getByRole('link', { name: 'On call' }).waitFor();
  });

  it('lists a new thread and what becomes of its messages while the page is open', async () => {
    await visit.signIn('viewer', '/notifications/threads?state=all');
    const threads = page.getByRole('table', { name: 'Threads' }).getByRole('link', { name: 'On call' });
    await threads.first().waitFor();
    const before = await threads.count();
    await openForward();
    await threads.nth(before).waitFor();
    await visit.goto(`/notifications/log?group=${groupId}&state=sent`);
    const messages = page.getByRole('status').filter({ hasText: 'message' });
    await messages.getByText(`${before + 1} messages`).waitFor();
    await openForward();
    await messages.getByText(`${before + 2} messages`).waitFor();
  });

  it('says who would be told of something, and why the others would not', async () => {
    await ask('POST', '/api/groups', { name: 'Others', topics: [] });
    await visit.signIn('viewer', '/notifications/explain');
    await page.getByText('Nobody would be told of it.').waitFor();
    await page.getByRole('combobox', { name: /^If/ }).selectOption('a forward is opened');
    const group = page.locator('section').filter({ has: page.getByRole('heading', { name: 'On call' }) });
    await group.getByRole('listitem').filter({ hasText: 'Tickets' }).getByText('is told', { exact: true }).waitFor();
    await group.getByRole('listitem').filter({ hasText: 'viewer@example.org' }).getByText('the address is not confirmed').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Others' }).getByText('the group follows other topics').waitFor();
    expect(new URL(page.url()).search).toBe('?kind=forward.created');
  });

  it('sends a test to a group, with what became of each line', async () => {
    await visit.signIn('admin', `/notifications/groups/${groupId}`);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send the test' }).click();
    const lines = page.getByRole('list', { name: 'What became of the test' }).getByRole('listitem');
    await lines.filter({ hasText: 'Tickets' }).getByText('sent', { exact: true }).waitFor();
    await lines.filter({ hasText: 'viewer@example.org' }).getByText('the address is not confirmed').waitFor();
    expect(receiver.received.some(({ type }) => type === 'notification.test')).toBe(true);
    await page.getByRole('link', { name: 'The thread of the test' }).click();
    await row('Tickets').getByText('test', { exact: true }).waitFor();
  });

  it('lets an operator take over what is open, once', async () => {
    await world.agent?.close();
    world.agent = undefined;
    await visit.signIn('operator', '/notifications/threads');
    await page.getByRole('table', { name: 'Threads' }).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Take it over' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I take it over' }).click();
    await page.getByText('taken over by operator@example.org').waitFor();
    const path = new URL(page.url()).pathname;
    await page.goto(`${visit.origin}${path}`);
    await page.getByText('taken over by operator@example.org').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });

  it('shows the times in titles in the zone of the times beside them', async () => {
    await visit.end();
    // No other zone is at this distance from UTC.
    visit = await Visit.start(browser, world, { timezoneId: 'Asia/Kathmandu' });
    page = visit.page;
    await visit.signIn('viewer', '/notifications/threads');
    const title = page.getByRole('link', { name: /since/ });
    const thread = page.getByRole('row').filter({ has: title });
    const since = `since ${await thread.locator('time').first().innerText()}`;
    expect(await title.innerText()).toContain(since);
    await title.click();
    await page.getByRole('heading', { level: 1, name: since }).waitFor();
    // What was sent has the times of its reader, and says so; what was not says what others were told.
    await row('Tickets').getByText('UTC time').first().waitFor();
    await row('viewer@example.org').getByText('UTC time').first().waitFor();
  });
});
