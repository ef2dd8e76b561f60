import type { Browser, FrameLocator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/** Of the browser, whose types this file does not have. */
interface BrowserGlobals {
  DataTransfer: new () => { setData(type: string, text: string): void };
  ClipboardEvent: new (type: string, options: object) => unknown;
}

/** A terminal in the web application: the page, its frame, the WebSocket, the agent and the router's shell. */

describe.skipIf(isChromiumMissing)('a terminal in the browser', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let routerId: string;

  beforeAll(async () => {
    world = await startConsoleWorld({ routers: [{}, {}], terminal: 'full' });
    [routerId = ''] = await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
  });
  afterEach(() => visit.end());

  const frame = (): FrameLocator => visit.page.frameLocator('iframe.terminal-screen');
  const sees = (text: string): Promise<void> => frame().locator('.xterm-rows').getByText(text).first().waitFor();
  const type = (text: string): Promise<void> => visit.page.keyboard.type(text);

  const paste = (text: string): Promise<void> =>
    frame()
      .locator('textarea.xterm-helper-textarea')
      .evaluate((element, pasted) => {
        const { DataTransfer, ClipboardEvent } = globalThis as unknown as BrowserGlobals;
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', pasted);
        const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
        (element as unknown as { dispatchEvent(event: unknown): void }).dispatchEvent(event);
      }, text);

  async function open(role: 'operator' | 'admin' = 'operator'): Promise<void> {
    await visit.signIn(role, `/routers/${routerId}/terminal`);
    await visit.page.getByLabel('Reason').fill('the uplink drops');
    await visit.page.getByRole('button', { name: 'Open the terminal' }).click();
    await sees('[term-read@router-0] >');
  }

  async function openTerminal(): Promise<{ away: boolean; input_bytes: number }> {
    const { body } = await world.caller.call<{ data: { away: boolean; input_bytes: number }[] }>('GET', '/api/terminals?status=open');
    return body.data[0]!;
  }

  async function endIt(): Promise<void> {
    await visit.page.getByRole('button', { name: 'End the terminal' }).click();
    await visit.page.getByText('The terminal has ended').waitFor();
  }

  it('is there again after a reload, with what it showed', async () => {
    await open();
    await type(':put "before the reload"\n');
    await sees('before the reload');
    await visit.page.reload();
    await visit.page.getByRole('button', { name: 'Attach', exact: true }).click();
    await sees('before the reload');
    await type(':put "and after"\n');
    await sees('and after');
    await endIt();
  });

  it('sends what is typed while the past is still on its way', async () => {
    await open();
    let isHeld = true;
    const held: (() => void)[] = [];
    await visit.page.routeWebSocket(/\/attach$/, (client) => {
      const server = client.connectToServer();
      server.onMessage((message) => {
        if (isHeld && typeof message !== 'string') held.push(() => client.send(message));
        else client.send(message);
      });
    });
    await visit.page.reload();
    await visit.page.getByRole('button', { name: 'Attach', exact: true }).click();
    await waitUntil('the past is on its way', () => held.length > 0);
    await type(':put ("ear" . "ly")\n');
    await waitUntil('the router has answered', () => held.length > 1);
    isHeld = false;
    for (const pass of held) pass();
    await sees('early');
    await endIt();
  });

  it('comes back by itself when the control plane restarts', async () => {
    await open();
    await type(':put ("once" . " only")\n');
    await sees('once only');
    await world.restartServer();
    await visit.page.getByText('The connection is lost').waitFor();
    await visit.page.getByText('The connection is lost').waitFor({ state: 'detached' });
    await waitUntil('the way to the router is there again', async () => !(await openTerminal()).away);
    await type(':put ("and" . " on")\n');
    await sees('and on');
    // The agent sends what it has once more; the screen shows it once.
    await expect.poll(() => frame().locator('.xterm-rows').getByText('once only', { exact: true }).count()).toBe(1);
    await endIt();
    // What the browser says of a server that is away.
    visit.complaints = visit.complaints.filter((complaint) => !/ERR_CONNECTION|503|401|WebSocket|Failed to load resource/.test(complaint));
  });

  it('shows several lines before it pastes them', async () => {
    await open();
    await paste(':put "line one"\n:put "line two"\n');
    const dialog = visit.page.getByRole('dialog');
    await dialog.getByText(':put "line one"').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await paste(':put "one"\n:put "two"\n');
    await dialog.getByRole('button', { name: 'Paste 2 lines' }).click();
    await sees(':put "two"');
    expect(await frame().locator('.xterm-rows').getByText('line one').count()).toBe(0);
    await endIt();
  });

  it('types a paste that is longer than one message of the connection', async () => {
    await open();
    const lines = Array.from({ length: 1400 }, (_, index) => `# ${index} ${'x'.repeat(50)}\n`);
    await paste(lines.join(''));
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Paste 1400 lines' }).click();
    // The router takes its time with them; the connection stays.
    await waitUntil('all of it has arrived', async () => (await openTerminal()).input_bytes > 65_536);
    await endIt();
  });

  it('keeps the reason over another sign-in, and the tabs of the router', async () => {
    await visit.page.route('**/api/routers/*/terminals', (route) =>
      route.fulfill({
        status: 403,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 403, code: 'forbidden', title: 'forbidden', detail: 'sign in again' }),
      }),
    );
    await ask();
    await visit.page.getByRole('button', { name: 'Sign in again' }).click();
    await visit.page.waitForURL((url) => !url.pathname.startsWith('/routers/'));
    // The session that is there still holds: whoever comes back by hand finds it, too.
    await visit.page.goto(`${visit.origin}/routers/${routerId}/terminal`);
    await expect.poll(() => visit.page.getByLabel('Reason').inputValue()).toBe('the uplink drops');
    const parts = visit.page.getByRole('navigation', { name: 'Parts of this router' });
    await parts.locator('[aria-current=page]', { hasText: 'Terminal' }).waitFor();
    await parts.getByRole('link', { name: 'Backups' }).click();
    await parts.locator('[aria-current=page]', { hasText: 'Backups' }).waitFor();
    visit.forgiveFailedRequests();
  });

  describe('at an agent with another configuration', () => {
    afterEach(async () => {
      await world.agent!.close();
      await world.startAgent({ terminal: 'full' });
      await tellsLevels(['read', 'full']);
    });

    /** Until the agent has said which levels it opens. */
    const tellsLevels = (levels: string[]): Promise<void> =>
      expect
        .poll(
          async () =>
            (await world.caller.call<{ data: { terminal_levels: string[] } }>('GET', `/api/routers/${routerId}`)).body.data.terminal_levels,
        )
        .toEqual(levels);

    it('says before anybody asks for one how terminals are switched on', async () => {
      await world.agent!.close();
      await world.startAgent({ terminal: 'off' });
      await tellsLevels([]);
      await visit.signIn('operator', `/routers/${routerId}/terminal`);
      await visit.page.getByText('The agent of this router opens no terminals on it.').waitFor();
      const block = visit.page.getByLabel('Lines of agent.yaml');
      expect(await block.innerText()).toMatch(/^# of the agent:.*\nterminal: full\n[^]*# of this router:.*\n {4}terminal:\n {6}read: /);
      await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await visit.page.getByRole('button', { name: 'Copy the lines of agent.yaml' }).click();
      await visit.page.getByText('Copied').waitFor();
      expect(await visit.page.evaluate<string>('navigator.clipboard.readText()')).toBe(await block.innerText());
      expect(await visit.page.getByLabel('Lines for the router').innerText()).toContain('/user/add name=term-read group=term-read');
      await visit.page.getByRole('button', { name: 'Copy what makes the users' }).waitFor();
      expect(await visit.page.getByLabel('Reason').count()).toBe(0);
      expect(await visit.accessibilityViolations()).toEqual([]);
      // The person switches them on, and looks at the page that told how.
      await world.agent!.close();
      await world.startAgent({ terminal: 'read' });
      await visit.page.getByLabel('Reason').waitFor();
    });

    it('offers an administrator no level that the agent does not open', async () => {
      await world.agent!.close();
      await world.startAgent({ terminal: 'read' });
      await tellsLevels(['read']);
      await visit.signIn('admin', `/routers/${routerId}/terminal`);
      await visit.page.getByText('The agent of this router opens no other level than read.').waitFor();
      expect(await visit.page.getByLabel('Level').locator('option').count()).toBe(1);
    });
  });

  async function loseAnswers(isDone: boolean): Promise<void> {
    await visit.page.route('**/api/routers/*/terminals', async (route) => {
      if (isDone) await route.fetch();
      await route.abort();
    });
  }

  async function ask(): Promise<void> {
    await visit.signIn('operator', `/routers/${routerId}/terminal`);
    await visit.page.getByLabel('Reason').fill('the uplink drops');
    await visit.page.getByRole('button', { name: 'Open the terminal' }).click();
  }

  it('is opened and attached when the request was lost and somebody looks again', async () => {
    await loseAnswers(false);
    await ask();
    await visit.page.getByText('It may have been done.').waitFor();
    await visit.page.unroute('**/api/routers/*/terminals');
    await visit.page.getByRole('button', { name: 'Look again' }).click();
    await sees('[term-read@router-0] >');
    visit.forgiveFailedRequests();
    await endIt();
  });

  it('is offered when it was opened and the answer was lost', async () => {
    await loseAnswers(true);
    await ask();
    await visit.page.getByRole('button', { name: 'Attach', exact: true }).click();
    await sees('[term-read@router-0] >');
    visit.forgiveFailedRequests();
    await endIt();
  });

  it('says why it could not be ended, on its page and in the list', async () => {
    await open();
    const refuse = { status: 409, contentType: 'application/problem+json', json: { code: 'conflict', message: 'not now, please' } };
    await visit.page.route('**/api/terminals/*', (route) =>
      route.request().method() === 'DELETE' ? route.fulfill(refuse) : route.continue(),
    );
    await visit.page.getByRole('button', { name: 'End the terminal' }).click();
    await visit.page.getByRole('alert').getByText('not now, please').waitFor();
    await visit.page.goto(`${visit.origin}/terminals`);
    await visit.page.getByRole('button', { name: 'End', exact: true }).click();
    await visit.page.getByRole('alert').getByText('not now, please').waitFor();
    await visit.page.unroute('**/api/terminals/*');
    await visit.page.getByRole('button', { name: 'End', exact: true }).click();
    await visit.page.getByRole('button', { name: 'End', exact: true }).waitFor({ state: 'detached' });
    visit.forgiveFailedRequests();
  });

  it('is listed; an administrator ends it there and plays its recording', async () => {
    await open();
    await type(':put "to be played again"\n');
    await sees('to be played again');
    const admin = await Visit.start(browser, world);
    try {
      await admin.signIn('admin', '/terminals');
      await admin.page.getByRole('button', { name: 'End', exact: true }).first().click();
      await visit.page.getByText('an administrator ended it').waitFor();
      // The newest, below the head: until the list has been read again, only those of other tests have a recording.
      const newest = admin.page.getByRole('table', { name: 'Terminals' }).getByRole('row').nth(1);
      await newest.getByRole('link', { name: 'Recording' }).click();
      await admin.page.getByRole('group', { name: 'Player' }).waitFor();
      await admin.page.frameLocator('iframe.terminal-screen').locator('.xterm-rows').getByText('to be played again').first().waitFor();
      expect(await admin.accessibilityViolations()).toEqual([]);
    } finally {
      await admin.end();
    }
  });

  it('stands on the first page, on the page of its router and in its history, with who has it and why', async () => {
    await open();
    const admin = await Visit.start(browser, world);
    const { page } = admin;
    const section = (name: string) => page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) });
    try {
      await admin.signIn('admin', '/');
      await section('Open now').getByText('read, operator@example.org').waitFor();
      await section('Open now').getByRole('link', { name: 'the uplink drops' }).click();
      await page.getByRole('heading', { name: 'Terminal on router-0' }).waitFor();
      await page.getByText('opened by operator@example.org').waitFor();
      await admin.goto(`/routers/${routerId}`);
      await section('Open here').getByText('terminal, level read, operator@example.org').waitFor();
      await section('History').getByText('read: the uplink drops').first().waitFor();
      await endIt();
      // Told by the event stream.
      await section('History').getByText(', a person ended it').first().waitFor();
      await section('Open here').getByText('no terminal').waitFor();
      await admin.goto(`/routers/${routerId}/terminal`);
      await section('Terminals of this router').getByText('operator@example.org').first().waitFor();
      await admin.goto('/terminals?q=status:open');
      await page.getByText('No terminal matches.').waitFor();
      await page.getByRole('searchbox', { name: 'Filter' }).fill('status:ended router-0');
      await page.getByRole('table', { name: 'Terminals' }).getByText('operator@example.org').first().waitFor();
      await page.getByRole('searchbox', { name: 'Filter' }).fill('status:gone');
      await page.getByText('There is no status gone.').waitFor();
    } finally {
      await admin.end();
    }
  });

  it('has no fault that axe finds, in light and dark, on a desk and on a phone', async () => {
    await open();
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ])
      for (const colorScheme of ['light', 'dark'] as const) {
        await visit.page.setViewportSize(viewport);
        await visit.page.emulateMedia({ colorScheme });
        expect(await visit.accessibilityViolations(), `${colorScheme}, ${viewport.width} px`).toEqual([]);
        expect(await visit.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${viewport.width} px`).toBe(true);
        // The shell follows the width of its frame.
        await type(':put "still here"\n');
        await sees('still here');
      }
    await endIt();
  });

  it('a viewer is offered none', async () => {
    await visit.signIn('viewer', `/routers/${routerId}/terminal`);
    await visit.page.getByText('Operators and administrators open terminals.').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Open the terminal' }).count()).toBe(0);
  });

  it('the terminal’s document runs nothing inline and can be framed by this origin only', async () => {
    const answer = await fetch(`${world.server.url}/terminal.html`);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});
