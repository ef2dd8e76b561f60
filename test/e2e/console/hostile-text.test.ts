import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/**
 * What a router says is text, on every page that shows it: markup makes no element, and what would move a terminal's cursor or give its window
 * a title does neither. `every-page.test.ts` looks for markup on all other pages.
 */

const HTML = '<img src=x onerror=alert(1)><svg onload=alert(1)>';
/** As RouterOS writes escapes in a string: clear the screen, name the window. */
const ESCAPES = String.raw`\1B[2J\1B]0;stolen\07`;

describe.skipIf(isChromiumMissing)('what a router says', () => {
  let world: World;
  let browser: Browser;
  let visit: Visit;
  let page: Page;
  let routerId: string;
  let dialogs: string[];

  beforeAll(async () => {
    world = await startConsoleWorld({ terminal: 'full' });
    [routerId = ''] = await world.routerIds();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
    dialogs = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  afterEach(() => visit.end());

  /** The text is there, and nothing was made of it. */
  async function isText(text = HTML): Promise<void> {
    await page.getByText(text).first().waitFor();
    expect(await page.locator('main img, main [onerror], main [onload], main script').count()).toBe(0);
    expect(await page.title()).not.toContain('stolen');
    expect(dialogs).toEqual([]);
  }

  const JOB = { description: HTML, make_backup: false, express_execute: true, needs_acknowledgement: true };

  it('in the output of a script is text', async () => {
    const script = `:put "${ESCAPES}${HTML}"`;
    const path = `/api/asynchronous/${routerId}`;
    const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', path, { ...JOB, script });
    await visit.signIn('viewer', `/jobs/${routerId}/${body.data.job_id}`);
    await page.getByRole('heading', { level: 1, name: /Done/ }).waitFor();
    await isText();
    await visit.goto('/jobs');
    await isText();
  });

  it('in the error of a script is text, in the list of a campaign, too', async () => {
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/campaigns', {
      ...JOB,
      router_ids: [routerId],
      script: `:error "${ESCAPES}${HTML}"`,
    });
    await waitUntil('the campaign is over', async () => {
      const answer = await world.caller.call<{ data: { finished_at: string | null } }>('GET', `/api/campaigns/${body.data.id}`);
      return answer.body.data.finished_at !== null;
    });
    await visit.signIn('viewer', `/campaigns/${body.data.id}`);
    await isText();
  });

  it('in a comment is text in the rows of a command and in the difference of two exports', async () => {
    const backups: string[] = [];
    const take = async (): Promise<void> => {
      const id = await waitUntil('the router takes a backup', async () => {
        const { status, body } = await world.caller.call<{ data: { id: string } }>('POST', `/api/routers/${routerId}/backups`, {
          parts: ['export'],
        });
        return status < 300 ? body.data.id : undefined;
      });
      await waitUntil('the backup is stored', async () => {
        const { body } = await world.caller.call<{ data: { id: string; state: string }[] }>('GET', `/api/routers/${routerId}/backups`);
        return body.data.some((backup) => backup.id === id && backup.state === 'stored');
      });
      backups.push(id);
    };
    await take();
    const [address] = world.simulators[0]!.items('/ip/address');
    const table = world.simulators[0]!.router.table('/ip/address');
    table.update(table.find('address', address!['address']!)!, [['comment', `\u001b]0;stolen\u0007${HTML}`]]);
    await take();
    await visit.signIn('operator', `/run?routers=${routerId}&command=%2Fip%2Faddress%2Fprint`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await isText();
    await visit.goto(`/routers/${routerId}/backups/${backups.join('..')}`);
    await page.locator('main:not(:has(.reading))').waitFor();
    // An export breaks long lines.
    await isText('<img src=x');
  });

  it('in a terminal moves its own screen only', async () => {
    await visit.signIn('operator', `/routers/${routerId}/terminal`);
    await page.getByLabel('Reason').fill(HTML);
    await page.getByRole('button', { name: 'Open the terminal' }).click();
    const rows = page.frameLocator('iframe.terminal-screen').locator('.xterm-rows');
    await rows.getByText('[term-read@router-0] >').first().waitFor();
    await page.keyboard.type(`:put "${String.raw`\1B]0;stolen\07`}<b>bold</b> and \\1B[31mred"\n`);
    await rows.getByText('<b>bold</b> and').first().waitFor();
    expect(await rows.locator('b').count()).toBe(0);
    await isText();
    await page.getByRole('button', { name: 'End the terminal' }).click();
    await page.getByText('its opener ended it').waitFor();
    await visit.goto('/terminals');
    await isText();
  });
});
