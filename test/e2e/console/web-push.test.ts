import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchWholeChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { PushReceiver, checkWebPush } from '../../harness/notify/providers.ts';
import { ProviderStandIn } from '../../harness/notify/stand-in.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/**
 * Notifications that a browser shows. The push service is one of the browser's maker and is not reached from here: a stand-in takes what the
 * control plane pushes, and the test hands it to the worker, as the browser would.
 */

/** Runs in the page before everything else: the subscription that a push service would have made. */
const pushService = (endpoint: string, { p256dh, auth }: PushReceiver): string => `
  let made = null;
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (applicationServerKey.length !== 87 || !userVisibleOnly) throw new Error('not as browsers want it');
    const subscription = ${JSON.stringify({ endpoint, keys: { p256dh, auth } })};
    made = { toJSON: () => subscription, unsubscribe: async () => ((made = null), true) };
    return made;
  };
`;

/** Runs in the worker: a click on a notification about this address, and what the worker does with windows, which needs a person's click. */
const CLICK = `async (url) => {
  const done = [];
  clients.openWindow = async (wanted) => void done.push('open ' + wanted);
  for (const name of ['focus', 'navigate']) WindowClient.prototype[name] = async function () { done.push(name + ' ' + this.url); };
  await registration.showNotification('Outage', { data: { url } });
  const [notification] = await registration.getNotifications();
  const click = new NotificationEvent('notificationclick', { notification });
  const work = [];
  click.waitUntil = (promise) => void work.push(promise);
  dispatchEvent(click);
  await Promise.all(work);
  return done;
}`;

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let service: ProviderStandIn;
  const receiver = new PushReceiver();

  beforeAll(async () => {
    service = await ProviderStandIn.start(checkWebPush, { status: 201 });
    world = await startConsoleWorld({ server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000', SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'true' } });
    browser = await launchWholeChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await service?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
    await page.addInitScript(pushService(`${service.url}/send/1`, receiver));
  });
  afterEach(() => visit.end());

  const button = (name: string) => page.getByRole('button', { name });
  const browsers = () => page.getByRole('row').filter({ hasText: new URL(service.url).host });

  /** A test of a group that tells the viewer's browser, as it arrives there. */
  async function pushedTest(): Promise<Record<string, unknown>> {
    const { body: members } = await world.caller.call<{ data: { id: string; email: string }[] }>('GET', '/api/members');
    const { id } = members.data.find(({ email }) => email === 'viewer@example.org')!;
    const { body: group } = await world.caller.call<{ id: string }>('POST', '/api/groups', {
      name: 'On call',
      notifiables: [{ id, channel: 'push' }],
    });
    const { body } = await world.caller.call<{ data: { messages: object[] } }>('POST', `/api/groups/${group.id}/test`);
    expect(body.data.messages).toMatchObject([{ channel: 'web_push', state: 'sent' }]);
    expect(service.problems).toEqual([]);
    return receiver.read(service.requests.at(-1)!.body);
  }

  it('subscribes this browser, shows what is pushed, and forgets it again', async () => {
    await visit.context.grantPermissions(['notifications'], { origin: visit.origin });
    await visit.signIn('viewer', '/me/notifications');
    await button('Show them in this browser').click();
    await browsers().getByText('confirmed').waitFor();
    const session = await visit.context.newCDPSession(page);
    const id = await registrationOf(session);
    const message = await pushedTest();
    await session.send('ServiceWorker.deliverPushMessage', { origin: visit.origin, registrationId: id, data: JSON.stringify(message) });
    const shown = await waitUntil('the notification is shown', async () => {
      const list = await page.evaluate<{ title: string; body: string; tag: string }[]>(
        'navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((list) => list.map(({ title, body, tag }) => ({ title, body, tag })))',
      );
      return list.length > 0 ? list : undefined;
    });
    expect(shown).toEqual([{ title: message['title'], body: (message['lines'] as string[]).join('\n'), tag: message['tag'] }]);
    await button('No longer in this browser').click();
    await browsers().waitFor({ state: 'detached' });
    await button('Show them in this browser').waitFor();
  });

  it('opens what a message is about beside the page in which somebody works', async () => {
    await visit.context.grantPermissions(['notifications'], { origin: visit.origin });
    await visit.signIn('viewer', '/me/notifications');
    await button('Show them in this browser').click();
    await browsers().getByText('confirmed').waitFor();
    const worker = visit.context.serviceWorkers()[0]!;
    const clickOn = (url: string) => worker.evaluate<string[]>(`(${CLICK})(${JSON.stringify(url)})`);
    const thread = `${visit.origin}/notifications/threads/01a1fb9c-376e-7279-a064-482cecad7b5b`;
    const here = page.url();
    expect(await clickOn(thread)).toEqual([`open ${thread}`]);
    expect(await clickOn('https://elsewhere.example/')).toEqual([`open ${visit.origin}/`]);
    expect(page.url()).toBe(here);
    await button('No longer in this browser').click();
    await browsers().waitFor({ state: 'detached' });
  });

  it('says what to do when the browser does not allow it', async () => {
    await page.addInitScript('Notification.requestPermission = async () => "denied"');
    await visit.signIn('viewer', '/me/notifications');
    await button('Show them in this browser').click();
    await page.getByText('Allow them beside its address, then try again.').waitFor();
    expect(await browsers().count()).toBe(0);
  });

  it('serves the worker with a policy of its own, and with nothing that another file could change', async () => {
    const answer = await fetch(`${world.server.url}/push-worker.js`);
    expect(answer.headers.get('content-type')).toContain('text/javascript');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(await answer.text()).not.toMatch(/\bimport\b|importScripts|fetch\(/);
  });
});

/** The browser's number of the worker's registration. */
async function registrationOf(session: CDPSession): Promise<string> {
  const known = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations;
      if (first) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  return known;
}
