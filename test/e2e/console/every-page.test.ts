import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_VERSION } from '../../../server/version.ts';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { PHONE, Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { consoleRoutes } from '../../harness/console-routes.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import { TerminalClient } from '../../harness/terminal-client.ts';
import type { OpenedTerminal } from '../../harness/terminal-client.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Caller, World } from '../../harness/world.ts';

/**
 * What holds on every page of the application: read from its list of routes, so that a new page cannot be forgotten. The team's records
 * hold HTML and terminal escapes wherever a router or a person can put a text.
 */

const HTML = '<img src=x onerror=alert(1)>';
const HOSTILE = `${HTML}\u001b[2J`;
/** Long enough for all pages one after the other on a busy machine, milliseconds. */
const WALK_MS = 540_000;
const DESK = { width: 1440, height: 900 };

/** Pages are as ever without what a person has chosen for themselves, and without the bars beside the names of routers. */
const EXTRAS = ['/api/me/preferences', '/api/views', '/api/availability'];
/** What the first page says of routers and events, which the page has. */
const READ_TEXTS = ['Nothing. Every router that was ever seen answers.', 'Nothing has changed yet. Changes appear here by themselves.'];

/** Runs in the page: how wide it is and how long its document, which does not scroll, once its parts have followed a new size, and which elements stick out. */
const SIZE_OF_PAGE = `(async () => {
  const width = () => Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth);
  const height = () => document.documentElement.scrollHeight;
  for (let frames = 0; frames < 60 && (width() > innerWidth || height() > innerHeight); frames += 1) await new Promise(requestAnimationFrame);
  const out = [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
  return { width: width(), height: height(), elements: out.slice(0, 4).map(({ tagName, className }) => tagName + '.' + String(className?.baseVal ?? className)).join(', ') };
})()`;

describe.skipIf(isChromiumMissing)('on every page, in Chromium', () => {
  let world: World;
  let empty: Caller;
  let browser: Browser;
  /** Addresses of the filled team. */
  let pages: string[];

  beforeAll(async () => {
    const file = Buffer.from('the agent');
    const agentRelease = { version: SERVER_VERSION, sha256: 'a'.repeat(64), bytes: file.length, file };
    const server = { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000' };
    world = await startConsoleWorld({ routers: [{ identity: HTML }, {}], terminal: 'read', overrides: { agentRelease }, server });
    // Sees the page of the control planes, too.
    await world.server.services.teams.setInstallationAdmin('admin@example.org', true);
    empty = await world.addTeam('Empty');
    for (const role of ['admin', 'viewer'] as const) await addUser(world, `empty-${role}@example.org`, role, empty.teamId);
    const values = await fill(world);
    pages = consoleRoutes().map((route) => addressOf(route, values));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  /** Opens page after page as this person. @returns what `look` found, with the page's address before it */
  async function walk(
    who: string,
    look: (page: Page, visit: Visit) => Promise<string[]>,
    before?: (page: Page) => Promise<void>,
  ): Promise<string[]> {
    const visit = await Visit.start(browser, world, { viewport: DESK });
    const found: string[] = [];
    await visit.signInAs(who, '/me');
    await before?.(visit.page);
    for (const path of pages) {
      await visit.page.goto(`${visit.origin}${path}`);
      try {
        await visit.page.locator('main h1').first().waitFor();
        await visit.page.locator('main:not(:has(.reading))').waitFor();
      } catch {
        found.push(`${path}: has no heading, or never ends reading: ${await visit.page.locator('body').innerText()}`);
        continue;
      }
      found.push(...(await look(visit.page, visit)).map((what) => `${path}: ${what}`));
    }
    visit.forgiveFailedRequests();
    found.push(...visit.complaints);
    await visit.context.close();
    return found;
  }

  /**
   * The page that is open already becomes narrow.
   * @param colorScheme one for each walk: colours are the same at every width, so what only a phone shows is seen once in each theme
   */
  async function onAPhone(page: Page, visit: Visit, colorScheme: 'light' | 'dark'): Promise<string[]> {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(PHONE);
    const { width, height, elements } = await page.evaluate<{ width: number; height: number; elements: string }>(SIZE_OF_PAGE);
    const found = (await visit.accessibilityViolations()).map((what) => `${colorScheme}, on a phone: ${what}`);
    await page.setViewportSize(DESK);
    if (height > PHONE.height) found.push(`its document is ${height} px long on a phone`);
    return width > PHONE.width ? [...found, `is ${width} px wide on a phone: ${elements}`] : found;
  }

  /** A dialog that is still being loaded opens after the Escape that was for it, and lies over the page. */
  async function press(page: Page, button: Locator): Promise<void> {
    try {
      await button.click({ timeout: 5000 });
    } catch (error) {
      if ((await page.getByRole('dialog').count()) === 0) throw error;
      await page.keyboard.press('Escape');
      await button.click();
    }
  }

  /** Presses the last button of an open dialog. It may be gone by the time it is pressed: what it waited for has come. */
  async function confirm(page: Page): Promise<void> {
    const button = page
      .getByRole('dialog')
      .getByRole('button', { name: /^(?!Close|Cancel)/ })
      .last();
    if (!(await button.isVisible())) return;
    try {
      if (await button.isEnabled({ timeout: 5000 })) await button.click({ timeout: 5000 });
    } catch (error) {
      if ((await page.getByRole('dialog').count()) > 0) throw error;
    }
  }

  /** Each part of a page that could not be read has a button of its own. */
  async function readAgain(again: Locator): Promise<void> {
    await waitUntil('everything is read again', async () => {
      if ((await again.count()) === 0) return true;
      // It may go while it is pressed.
      await again
        .first()
        .click({ timeout: 2000 })
        .catch(() => undefined);
      return false;
    });
  }

  /** A text that became a part of the page would have made this. */
  async function madeOfText(page: Page): Promise<string[]> {
    const made = await page.locator('img, [onerror], main script').count();
    return made === 0 ? [] : ['a text became HTML'];
  }

  it(
    'finds no fault with axe in light and dark and on a phone, nothing wider than a phone, and no text that became HTML',
    { timeout: WALK_MS },
    async () => {
      const found = await walk('admin@example.org', async (page, visit) => [
        ...(await visit.violationsInBothThemes()),
        ...(await onAPhone(page, visit, 'dark')),
        ...(await madeOfText(page)),
      ]);
      expect(found).toEqual([]);
    },
  );

  it('shows the text of a router as it is, markup and all', async () => {
    const visit = await Visit.start(browser, world);
    await visit.signIn('viewer', '/routers');
    await visit.page.getByText(HTML).first().waitFor();
    await visit.end();
  });

  it('finds no fault with axe in a team without anything', { timeout: WALK_MS }, async () => {
    const found = await walk('empty-admin@example.org', async (page, visit) => [
      ...(await visit.violationsInBothThemes()),
      ...(await onAPhone(page, visit, 'light')),
    ]);
    expect(found).toEqual([]);
  });

  it('says so when nothing can be read, takes nothing for empty, and reads again when asked', { timeout: WALK_MS }, async () => {
    /** What this page has asked for in vain. */
    const asked: string[] = [];
    let isBroken = true;
    const failing = async (page: Page): Promise<void> => {
      // What the last page asked for when it was left is not asked by the next one.
      page.on('response', (response) => {
        if (response.request().isNavigationRequest()) asked.length = 0;
      });
      await page.route(/\/(api|arp)\/(?!me$|routers\?limit=5000|events)/, (route, request) => {
        if (!isBroken) return route.continue();
        asked.push(new URL(request.url()).pathname);
        const body = JSON.stringify({ code: 'internal', message: 'broken' });
        return route.fulfill({ status: 500, contentType: 'application/problem+json', body });
      });
    };
    const look = async (page: Page, visit: Visit): Promise<string[]> => {
      const found = await visit.violationsInBothThemes();
      const empty = (await page.locator('main .empty:not([role=alert])').allInnerTexts()).filter((text) => !READ_TEXTS.includes(text));
      found.push(...empty.map((text) => `says what nobody has read: ${text}`));
      const missed = asked.splice(0).filter((path) => !EXTRAS.includes(path));
      const again = page.locator('main').getByRole('alert').getByRole('button', { name: 'Try again' });
      if (missed.length === 0) return found;
      if ((await again.count()) === 0) return [...found, `does not say that it could not read ${[...new Set(missed)].join(', ')}`];
      isBroken = false;
      const isRead = await readAgain(again).then(
        () => true,
        () => false,
      );
      isBroken = true;
      return isRead ? found : [...found, `does not read again: ${await page.locator('main').innerText()}`];
    };
    expect(await walk('admin@example.org', look, failing)).toEqual([]);
  });

  // An operator's and an administrator's buttons do what they say: they are pressed last, and each page is opened again when one has led away.
  it.each(['viewer', 'operator', 'admin'] as const)(
    'has no button for a person (%s) that the control plane refuses',
    { timeout: WALK_MS },
    async (role) => {
      const refused: string[] = [];
      let last = '';
      const found = await walk(
        `${role}@example.org`,
        async (page, visit) => {
          const address = page.url();
          const { length } = await page.locator('main').getByRole('button').all();
          for (let index = 0; index < length; index += 1) {
            const button = page.locator('main').getByRole('button').nth(index);
            if (!(await button.isVisible()) || !(await button.isEnabled())) continue;
            last = `${page.url()} ${await button.innerText()}`;
            if (/sign out|sign in|leave the team/i.test(last)) continue;
            await press(page, button);
            // What an administrator confirms would take the others' accounts and the team's records away.
            if (role !== 'admin') await confirm(page);
            await page.keyboard.press('Escape');
            if (new URL(page.url()).pathname === new URL(address).pathname) continue;
            await page.goto(address);
            await page.locator('main h1').first().waitFor();
            await page.locator('main:not(:has(.reading))').waitFor();
          }
          return role === 'viewer' ? visit.accessibilityViolations() : [];
        },
        async (page) => {
          page.on('response', (answer) => {
            if (answer.status() === 403) refused.push(`${last}: ${answer.request().method()} ${answer.url()}`);
          });
        },
      );
      expect([...refused, ...found]).toEqual([]);
    },
  );

  it.each(['127.0.0.1', 'localhost'])('cannot be ridden by a page of another origin (%s)', async (host) => {
    const strangers = http.createServer((_request, answer) =>
      answer.setHeader('content-type', 'text/html').end('<title>elsewhere</title>'),
    );
    await new Promise<void>((resolve) => strangers.listen(0, '127.0.0.1', resolve));
    try {
      const visit = await Visit.start(browser, world);
      await visit.signIn('admin');
      const stranger = await visit.context.newPage();
      await stranger.goto(`http://${host}:${(strangers.address() as AddressInfo).port}/`);
      const silent = `${visit.origin}/oidc/auth?client_id=signalbox-console&prompt=none&response_type=code&scope=openid+api&redirect_uri=${encodeURIComponent(`${visit.origin}/silent-callback`)}`;
      const read = (url: string) =>
        stranger.evaluate<string, string>(
          (address) =>
            fetch(address, { credentials: 'include' }).then(
              (answer) => answer.text(),
              () => 'unreadable',
            ),
          url,
        );
      for (const url of [silent, `${visit.origin}/api/events`, `${visit.origin}/api/me`, `${visit.origin}/oidc/token`, `${visit.origin}/`])
        expect(await read(url), url).toBe('unreadable');
      // Nor shown in a frame.
      await stranger.evaluate<undefined, string>((address) => {
        const page = globalThis as unknown as {
          document: { createElement(name: string): { src: string }; body: { append(node: unknown): void } };
        };
        const frame = page.document.createElement('iframe');
        frame.src = address;
        page.document.body.append(frame);
      }, `${visit.origin}/settings/keys`);
      await waitUntil('the frame is refused', async () => stranger.frames().some((frame) => frame.url().startsWith('chrome-error:')));
      const id = pages.map((one) => /^\/routers\/([^/]+)$/.exec(one)?.[1]).find((found) => found !== undefined)!;
      const attach = `/api/routers/${id}/terminals/${id}/attach`;
      const ticket = `signalbox.ticket.${'A'.repeat(43)}`;
      // The browser sends no cookie of this application's with them, and no page can give a WebSocket a header.
      const sockets: [string, string[]][] = [
        ['/api/events', []],
        [attach, ['signalbox.terminal.v1']],
        [attach, ['signalbox.terminal.v1', ticket]],
        [`/api/routers/${id}/transient-forwarding/${id}/connect`, ['signalbox.forward.v1']],
        ['/agent/v1/tunnel', ['signalbox.v1']],
      ];
      for (const [socketPath, protocols] of sockets) {
        const outcome = await stranger.evaluate<string, [string, string[]]>(
          ([address, names]) =>
            new Promise<string>((resolve) => {
              const opened = new WebSocket(address, names);
              opened.addEventListener('open', () => resolve('open'));
              opened.addEventListener('error', () => resolve('refused'));
            }),
          [`${visit.origin.replace('http', 'ws')}${socketPath}`, protocols],
        );
        expect(outcome, `${socketPath} ${protocols.join()}`).toBe('refused');
      }
      await visit.context.close();
    } finally {
      strangers.close();
    }
  });
});

/** A value for each parameter of the addresses. */
type Values = Record<string, string>;

function addressOf(route: string, values: Values): string {
  return route.replaceAll(/\$(\w+)/g, (_all, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`every-page.test.ts has no value for $${name} of ${route}`);
    return value;
  });
}

/** Records of each kind, with hostile texts wherever one can be given. */
async function fill({ caller, server }: World): Promise<Values> {
  const routerId = await waitUntil('the router is listed with a pulse', async () => {
    const { body } = await caller.call<{ data: { id: string; identity: string; has_pulse: boolean }[] }>('GET', '/api/routers');
    return body.data.find(({ identity, has_pulse: hasPulse }) => identity === HTML && hasPulse)?.id;
  });
  const create = async (path: string, content: object): Promise<Record<string, string>> => {
    const { status, body } = await caller.call<{ data?: Record<string, string> }>('POST', path, content);
    expect(status, `${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    // A forward is answered without an envelope.
    return body.data ?? (body as Record<string, string>);
  };
  const backups: string[] = [];
  for (let taken = 0; taken < 2; taken += 1) backups.push(await takeBackup(caller, routerId));
  const script = { description: HTML, script: `:put "${HTML}"`, make_backup: false, express_execute: true, needs_acknowledgement: true };
  const job = await create(`/api/asynchronous/${routerId}`, script);
  const campaign = await create('/api/campaigns', { router_ids: [routerId], ...script });
  const groupId = await fillNotifications(create, routerId);
  const forward = await create(`/api/routers/${routerId}/transient-forwarding`, {
    expire_after_minutes: 10,
    dst_port: 80,
    dst_address: '127.0.0.1',
    allow_from: '127.0.0.1',
  });
  await create('/api/api-keys', { name: HOSTILE.replace('\u001b', '') });
  await create('/api/members', { email: 'ada@example.org', role: 'viewer' });
  await create('/api/clients', { name: HTML, kind: 'web', role: 'viewer', redirect_uris: ['https://app.example.net/callback'] });
  const site = await create('/api/sites', { name: HTML });
  await create('/api/enrol-tokens', { site_id: site['id'] });
  const { body: agents } = await caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
  return {
    routerId,
    agentId: agents.data[0]!.id,
    siteId: site['id']!,
    jobId: job['job_id']!,
    campaignId: campaign['id']!,
    forwardId: forward['id']!,
    groupId,
    threadId: await threadOf(caller, groupId),
    terminalId: await leaveTerminals(server.url, caller, routerId),
    pair: backups.join('..'),
  };
}

/** Groups with every part, channels, topics, schedules and silences. @returns the id of a group */
async function fillNotifications(
  create: (path: string, content: object) => Promise<Record<string, string>>,
  routerId: string,
): Promise<string> {
  const windows = [{ day: 'monday', from: 1320, to: 360 }];
  const schedule = await create('/api/schedules', { name: HTML, time_zone: 'Europe/Madrid', windows });
  const topic = await create('/api/topics', { name: HTML, events: ['fault.*', 'forward.created'] });
  const address = { url: 'https://hooks.slack.com/services/T0/B0/hostile' };
  const target = await create('/api/notification-targets', { name: HTML, channel: 'slack', address });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await create('/api/silences', { router_id: routerId, until, reason: HTML });
  await create('/api/groups', { name: 'Empty' });
  const parts = { topics: [topic['id']], targets: [target['id']], schedule_id: schedule['id'] };
  await create('/api/groups', { name: 'Muted', ...parts, mute: 'always' });
  const group = await create('/api/groups', { name: HTML, ...parts, mute: 'never' });
  return group['id']!;
}

/** The forward, as the group sees it. */
function threadOf(caller: Caller, groupId: string): Promise<string> {
  return waitUntil('the group has a thread with a message', async () => {
    const { body } = await caller.call<{ data: { id: string; thread_id: string }[] }>('GET', `/api/notifications?group_id=${groupId}`);
    return body.data[0]?.thread_id;
  });
}

/** One that has ended, with a recording, and one that is open. @returns the id of the first */
async function leaveTerminals(url: string, caller: Caller, routerId: string): Promise<string> {
  const open = async (): Promise<OpenedTerminal> => {
    const { status, body } = await caller.call<{ data: OpenedTerminal }>('POST', `/api/routers/${routerId}/terminals`, {
      level: 'read',
      reason: HTML,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  };
  const first = await open();
  const client = await TerminalClient.attach(url, first);
  client.type(`:put "${HTML}"\r`);
  await client.sees(`\r\n${HTML}\r\n`);
  client.type('quit\r');
  await client.ending();
  await waitUntil('the record says that it has ended', async () => {
    const { body } = await caller.call<{ data: { status: string } }>('GET', `/api/terminals/${first.id}`);
    return body.data.status === 'ended';
  });
  await open();
  return first.id;
}

/** One after the other: a second one is refused while the first is under way. */
function takeBackup(caller: Caller, routerId: string): Promise<string> {
  return waitUntil('the router takes a backup', async () => {
    const { status, body } = await caller.call<{ data: { id: string } }>('POST', `/api/routers/${routerId}/backups`, { parts: ['export'] });
    return status < 300 ? body.data.id : undefined;
  });
}
