import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { World } from '../../harness/world.ts';

/** Commands, scripts, jobs, campaigns and backups as people use them in the web application. */

/** One more than the person may mean without typing their number. */
const ROUTERS = 21;

let world: World;
let ids: string[];

beforeAll(async () => {
  world = await startConsoleWorld({ routers: Array.from({ length: ROUTERS }, () => ({})) });
  ids = await world.routerIds();
});
afterAll(() => world?.close());

const JOB = { description: 'Made by the test', make_backup: false, express_execute: true, needs_acknowledgement: true };

/** @returns the id of a job that a key has submitted */
async function submit(index: number, script: string, change: object = {}): Promise<string> {
  const path = `/api/asynchronous/${ids[index]}`;
  const { status, body } = await world.caller.call<{ data: { job_id: string } }>('POST', path, { ...JOB, script, ...change });
  expect(status).toBe(200);
  return body.data.job_id;
}

async function jobIs(index: number, jobId: string, isSo: (job: { status: string; guard: object | null }) => boolean): Promise<void> {
  await waitUntil('the job is so', async () => {
    const path = `/api/routers/${ids[index]}/jobs/${jobId}`;
    const { body } = await world.caller.call<{ data: { status: string; guard: object | null } }>('GET', path);
    return isSo(body.data) ? true : undefined;
  });
}

describe.skipIf(isChromiumMissing)('in Chromium', () => {
  let browser: Browser;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    visit = await Visit.start(browser, world);
    page = visit.page;
  });
  afterEach(() => visit.end());

  const button = (name: string | RegExp) => page.getByRole('button', { name });

  describe('a command', () => {
    it('closes the list of commands when it is sent', async () => {
      await visit.signIn('operator', '/run?routers=router-0');
      const box = page.getByRole('combobox', { name: 'Command' });
      await box.pressSequentially('/interface/pr');
      await page.getByRole('listbox').waitFor();
      await box.press('Enter');
      await page.getByText('the router refused').waitFor();
      expect(await page.getByRole('listbox').count()).toBe(0);
      visit.forgiveFailedRequests();
    });

    it('shows the words of a router that refuses it', async () => {
      await visit.signIn('operator', '/run?routers=router-0&command=%2Fip%2Faddress%2Fadd%20address%3Dnonsense');
      await page.getByText('a command has no undo').waitFor();
      await button('Run').click();
      await page.getByText('the router refused').waitFor();
      visit.forgiveFailedRequests();
    });

    it('says who refused one without an end, and offers it with one', async () => {
      await visit.signIn('operator', '/run?routers=router-0&command=%2Fping%20127.0.0.1');
      await button('Run').click();
      await page.getByText('Signalbox refused and sent nothing').waitFor();
      await button('/ping address=127.0.0.1 count=4').click();
      expect(await page.getByRole('combobox', { name: 'Command' }).inputValue()).toBe('/ping address=127.0.0.1 count=4');
      visit.forgiveFailedRequests();
    });

    it('is begun by an example, and its one record is read line by line', async () => {
      await visit.signIn('operator', '/run?routers=router-0');
      await waitUntil('the box has the focus', async () =>
        (await page.locator('input[role=combobox]:focus').count()) === 1 ? true : undefined,
      );
      await button('/system/resource/print').click();
      await button('Run').click();
      await page.getByRole('rowheader', { name: 'free-memory' }).waitFor();
    });

    it('keeps the lines of a text, under the name of its router and the command', async () => {
      await visit.signIn('operator', '/run?routers=router-0&command=%2Fping%20192.0.2.1%20count%3D1');
      const text = '  SEQ HOST       SIZE TTL TIME\n    0 192.0.2.1    56  64 412us';
      await page.route('**/api/synchronous/*', (route) => route.fulfill({ json: { data: [{ ret: text }] } }));
      await button('Run').click();
      const answers = page.getByRole('region', { name: 'Answers' });
      await answers.getByRole('heading').getByRole('link', { name: 'router-0' }).waitFor();
      await answers.getByText('/ping 192.0.2.1 count=1').waitFor();
      expect(await answers.getByRole('group', { name: 'Text' }).textContent()).toBe(text);
      expect(await answers.getByText('Other routers are chosen now').count()).toBe(0);
      await button('Choose others').click();
      await answers.getByText('Other routers are chosen now').waitFor();
    });

    it('that reaches no router says so in one line of whole sentences', async () => {
      await visit.signIn('operator', '/run?routers=router-0&command=%2Finterface%2Fprint');
      await page.route('**/api/synchronous/*', (route) =>
        route.fulfill({ status: 503, json: { code: 'agent_offline', message: 'the agent is not connected' } }),
      );
      await button('Run').click();
      const outcome = page.locator('.outcome');
      await outcome.getByText('Nothing was done.').waitFor();
      expect(await outcome.textContent()).toMatch(/^ ?Nothing was done\. The agent is not connected\.$/);
      const [lamp, said] = await Promise.all([outcome.locator('svg').boundingBox(), outcome.locator('b').boundingBox()]);
      expect(lamp!.y).toBeGreaterThanOrEqual(said!.y);
      expect(lamp!.y).toBeLessThan(said!.y + said!.height);
      visit.forgiveFailedRequests();
    });

    it('goes to several routers, each with its own answer, and to twenty at most', async () => {
      await visit.signIn('operator', '/run?routers=router-0,router-1&command=%2Fsystem%2Fidentity%2Fprint');
      await button('Run on 2 routers').click();
      await page.getByRole('cell', { name: 'router-0' }).waitFor();
      await page.getByRole('cell', { name: 'router-1' }).waitFor();
      await visit.goto('/run?q=router&command=%2Fsystem%2Fidentity%2Fprint');
      await page.getByText('A command goes to 20 routers at most').waitFor();
      expect(await button(/^Run/).isDisabled()).toBe(true);
    });
  });

  describe('the choice of routers', () => {
    it('says why a filter finds none, offers all of them, and names those that are meant', async () => {
      await visit.signIn('operator', '/run');
      await page.getByText('It runs on every router that matches').waitFor();
      await page.getByRole('searchbox').fill('state:up');
      await page.getByText('There is no state up. It is one of answering').waitFor();
      await page.getByRole('searchbox').fill('nosuch');
      await page.getByText('No router matches.').waitFor();
      await button(`All ${ROUTERS} routers`).click();
      await page.getByRole('heading', { level: 1, name: `Run on ${ROUTERS} routers` }).waitFor();
      await page.getByText('and 15 more').waitFor();
      await page.getByRole('searchbox').fill('router-20');
      await page.getByRole('main').getByRole('link', { name: 'router-20' }).waitFor();
    });
  });

  describe('what takes a router away', () => {
    it('is asked about by the names of the routers, before a command runs', async () => {
      await visit.signIn('operator', '/run?routers=router-7,router-8&command=%2Fsystem%2Freboot');
      await page.getByText('A reboot cuts off the router').waitFor();
      await button('Run on 2 routers').click();
      const dialog = page.getByRole('dialog', { name: 'Reboot 2 routers?' });
      await dialog.getByText('router-7', { exact: true }).waitFor();
      await dialog.getByText('router-8', { exact: true }).waitFor();
      await dialog.getByText('/system/reboot', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await page.getByRole('region', { name: 'Answers' }).count()).toBe(0);
      await button('Run on 2 routers').click();
      await dialog.getByRole('button', { name: 'Reboot 2 routers' }).click();
      await page.getByRole('region', { name: 'Answers' }).getByRole('link', { name: 'router-7' }).waitFor();
      visit.forgiveFailedRequests();
    });

    it('is seen in a script, where a reset says that no guard helps, and is asked about', async () => {
      await visit.signIn('operator', '/run?routers=router-9&mode=script');
      await page.getByText('no script yet').waitFor();
      const script = page.getByRole('textbox', { name: 'Script' });
      const guard = page.getByRole('checkbox', { name: /Undo guard/ });
      await script.fill('/interface set ether1 comment=uplink');
      await page.getByText('none found').waitFor();
      await script.fill('/system reboot');
      await page.getByText('A reboot cuts off the router').waitFor();
      await script.fill('/system reset-configuration');
      await page.getByText('No undo guard helps').waitFor();
      expect(await guard.isChecked()).toBe(false);
      await guard.check();
      expect(await page.getByText(/loads the configuration from before it/).count()).toBe(0);
      await page.getByLabel('What it does').fill('From the beginning');
      await button('Run the script').click();
      const dialog = page.getByRole('dialog', { name: 'Run this script on 1 router?' });
      await dialog.getByText('router-9', { exact: true }).waitFor();
      await dialog.getByText('No undo guard helps').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });
  });

  describe('a script for one router', () => {
    it('has its undo guard on when it touches addresses, says why, and becomes a job', async () => {
      await visit.signIn('operator', '/run?routers=router-1&mode=script');
      const guard = page.getByRole('checkbox', { name: /Undo guard/ });
      await page.getByLabel('What it does').fill('A second address');
      await page.getByRole('textbox', { name: 'Script' }).fill(':put hello');
      expect(await guard.isChecked()).toBe(false);
      await page
        .getByRole('textbox', { name: 'Script' })
        .fill('/ip address add address=10.9.9.1/24 interface=ether2\n:put "address is there"');
      expect(await guard.isChecked()).toBe(true);
      await page.getByText('The guard is on because the script changes addresses').waitFor();
      await button('Run the script').click();
      await page.getByRole('heading', { level: 1, name: /A second address.*Done/ }).waitFor();
      await page.getByRole('table', { name: 'Timeline' }).getByText('undo guard taken away').waitFor();
      await page.getByText('address is there').last().waitFor();
    });

    it('is there again after another page and after Back, until it is begun anew or sent', async () => {
      await visit.signIn('operator', '/run?routers=router-1&mode=script');
      const script = page.getByRole('textbox', { name: 'Script' });
      const leave = async () => {
        await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
        await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
      };
      await page.getByLabel('What it does').fill('Half of it');
      await script.fill(':put half');
      await leave();
      await page.goBack();
      await page.getByText('This was written here before').waitFor();
      expect(await script.inputValue()).toBe(':put half');
      expect(await page.getByLabel('What it does').inputValue()).toBe('Half of it');
      await button('Begin anew').click();
      expect(await script.inputValue()).toBe('');
      await leave();
      await page.goBack();
      await script.waitFor();
      expect(await script.inputValue()).toBe('');

      await page.getByLabel('What it does').fill('All of it');
      await script.fill(':put all');
      await button('Run the script').click();
      await page.getByRole('heading', { level: 1, name: /All of it/ }).waitFor();
      await page.goBack();
      await script.waitFor();
      expect(await script.inputValue()).toBe('');
    });

    it('cannot be sent while it is longer than a script may be, and the page says so', async () => {
      await visit.signIn('operator', '/run?routers=router-1&mode=script');
      await page.getByLabel('What it does').fill('Too much');
      const script = page.getByRole('textbox', { name: 'Script' });
      await script.fill(':put 1\n'.repeat(400));
      await page.getByText('Before it can run: shorten the script.').waitFor();
      expect(await button('Run the script').isDisabled()).toBe(true);
      await script.fill(':put 1');
      await page.getByText('Before it can run').waitFor({ state: 'detached' });
      expect(await button('Run the script').isDisabled()).toBe(false);
    });

    it('shows the reasons of the server beside the fields', async () => {
      await visit.signIn('operator', '/run?routers=router-1&mode=script');
      await page.getByLabel('What it does').fill('Impossible');
      await page.getByRole('textbox', { name: 'Script' }).fill('/ip address print');
      await page.getByRole('checkbox', { name: /Undo guard/ }).check();
      await page.getByLabel('Undo after, seconds').fill('5');
      await button('Run the script').click();
      await waitUntil('the field is marked', async () =>
        (await page.getByLabel('Undo after, seconds').getAttribute('aria-invalid')) === 'true' ? true : undefined,
      );
      visit.forgiveFailedRequests();
    });

    it('counts down while its guard is armed', async () => {
      const jobId = await submit(2, ':delay 30s', { undo_unless_reachable_seconds: 300 });
      await visit.signIn('viewer', `/jobs/${ids[2]}/${jobId}`);
      await page
        .getByRole('timer', { name: 'Time left' })
        .getByText(/^[34]:\d\d$/)
        .waitFor();
      await page.getByText('undoes the script by itself at').waitFor();
    });
  });

  describe('a job', () => {
    it('whose router rebooted says what is certain, what is not, and where to look', async () => {
      const jobId = await submit(3, '/ip firewall filter add chain=input action=accept\n:delay 30s');
      await jobIs(3, jobId, ({ status }) => status === 'running');
      await visit.signIn('operator', `/jobs/${ids[3]}/${jobId}`);
      await page.getByRole('heading', { name: /The script runs/ }).waitFor();
      await world.simulators[3]!.reboot();
      await page.getByRole('heading', { name: /Nobody knows the outcome/ }).waitFor();
      const known = page.getByRole('group', { name: 'What is known of the outcome' });
      await known.getByText('The router rebooted while the script ran').waitFor();
      await known.getByText('Whether line 1 took effect wholly, partly or not at all').waitFor();
      expect(await button('Retry').count()).toBe(0);
      await known.getByRole('link', { name: '/ip/firewall/filter/print' }).click();
      await waitUntil('the check is ready', async () =>
        (await page.getByRole('combobox', { name: 'Command' }).inputValue()) === '/ip/firewall/filter/print' ? true : undefined,
      );
    });

    it('that waits can be canceled, and run again', async () => {
      await submit(4, ':delay 20s');
      const jobId = await submit(4, ':put later', { description: 'It waits' });
      await visit.signIn('operator', `/jobs/${ids[4]}/${jobId}`);
      await button('Cancel the job').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
      await page.getByRole('heading', { name: /Canceled/ }).waitFor();
      await page.getByRole('link', { name: 'Edit and run again' }).click();
      await waitUntil('the script is there', async () =>
        (await page.getByRole('textbox', { name: 'Script' }).inputValue()) === ':put later' ? true : undefined,
      );
    });

    it('shows what was sent to its webhook, and that nobody took it', async () => {
      // Nothing listens on port 9 of this machine.
      const jobId = await submit(15, ':put done', { notify_url: 'http://127.0.0.1:9/updates' });
      await visit.signIn('viewer', `/jobs/${ids[15]}/${jobId}`);
      await page.getByRole('heading', { name: 'Webhook' }).waitFor();
      await page.getByText('on its way, connect failed').first().waitFor();
      expect(await button('Send again').count()).toBe(0);
    });

    it('is found in the list of the team by its status and router, with the filter in the address', async () => {
      const jobId = await submit(5, ':error "no space left"', { description: 'It fails' });
      await jobIs(5, jobId, ({ status }) => status === 'failed');
      await visit.signIn('viewer', '/jobs?q=status%3Afailed%20router-5');
      const row = page.getByRole('row').filter({ hasText: 'It fails' });
      await row.getByText('an error in the script').waitFor();
      await page.getByText('1 job', { exact: true }).waitFor();
      await page.getByRole('searchbox').fill('status:gone');
      await page.getByText('There is no status gone').waitFor();
      await page.getByRole('searchbox').fill('status:rolled_back');
      await page.getByText('counts as failed').waitFor();
      await page.getByRole('searchbox').fill('by:admin');
      await page.getByText('has no field by. It has status, router and site.').waitFor();
      await page.getByRole('searchbox').fill('status:failed');
      await row.getByRole('link', { name: 'It fails' }).click();
      await page.getByText('no space left').first().waitFor();
    });
  });

  /** What React does with an answer is done two frames later. */
  const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

  describe('a click', () => {
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });

    async function pressOn(text: string): Promise<void> {
      await row(text).getByRole('link', { name: text }).hover();
      await page.mouse.down();
    }

    it('reaches the row that was pressed when the filter is left for it', async () => {
      const jobId = await submit(16, ':error "no space here"', { description: 'Left for it' });
      await jobIs(16, jobId, ({ status }) => status === 'failed');
      await visit.signIn('viewer', '/jobs?q=status%3Agone');
      await page.getByText('There is no status gone').waitFor();
      await page.getByRole('searchbox').fill('status:failed');
      await pressOn('Left for it');
      await page.evaluate(TWO_FRAMES);
      await page.mouse.up();
      await page.getByText('no space here').first().waitFor();
      await page.goBack();
      await row('Left for it').waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('status:failed');
    });

    it('reaches the row that was pressed when another one comes above it meanwhile', async () => {
      const jobId = await submit(17, ':error "no space there"', { description: 'Under the pointer' });
      await jobIs(17, jobId, ({ status }) => status === 'failed');
      await visit.signIn('viewer', '/jobs');
      await row('Under the pointer').waitFor();
      const isPressed = Promise.withResolvers<void>();
      const isHeld = Promise.withResolvers<void>();
      await page.route('**/api/jobs?**', async (route) => {
        const response = await route.fetch();
        if (!(await response.text()).includes('The newest')) return route.fulfill({ response });
        isHeld.resolve();
        await isPressed.promise;
        await route.fulfill({ response });
      });
      await submit(18, ':put done', { description: 'The newest' });
      await isHeld.promise;
      await pressOn('Under the pointer');
      const isRead = page.waitForResponse('**/api/jobs?**');
      isPressed.resolve();
      await (await isRead).finished();
      await page.evaluate(TWO_FRAMES);
      await page.mouse.up();
      await page.getByText('no space there').first().waitFor();
    });

    it('that goes on while a long list is scrolled to its end reads the next page once, and ends with its rows', async () => {
      const jobId = await submit(19, ':put done', { description: 'One of many' });
      await jobIs(19, jobId, ({ status }) => status === 'completed');
      const { body } = await world.caller.call<{ data: object[] }>('GET', `/api/jobs?router_id=${ids[19]}`);
      const cursors: string[] = [];
      const isPressed = Promise.withResolvers<void>();
      await page.route('**/api/jobs?**', async (route) => {
        const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? '1';
        if (cursor !== '1') {
          cursors.push(cursor);
          await isPressed.promise;
        }
        const data = Array.from({ length: 200 }, (_, row) => ({
          ...body.data[0],
          id: `${cursor} ${row}`,
          description: `Job ${cursor}/${row}`,
        }));
        await route.fulfill({ json: { data }, headers: { link: `</api/jobs?cursor=${Number(cursor) + 1}>; rel="next"` } });
      });
      await visit.signIn('viewer', '/jobs');
      await row('Job 1/0').first().hover();
      await page.mouse.down();
      const scrollTo = (px: string): Promise<unknown> =>
        page.evaluate(`{ const rows = document.querySelector('.gbody'); rows.scrollTop = ${px}; }`);
      const scroll = async (): Promise<void> => {
        for (const back of [0, 60, 0, 60, 0]) {
          await scrollTo(`rows.scrollHeight - rows.clientHeight - ${back}`);
          await page.evaluate(TWO_FRAMES);
        }
      };
      const isRead = page.waitForResponse(/cursor=2/);
      await scroll();
      isPressed.resolve();
      await (await isRead).finished();
      await page.evaluate(TWO_FRAMES);
      // At the end of what was read before, not of what was read now.
      for (const index of [199, 197, 199]) {
        await scrollTo(`${index * 30} - rows.clientHeight`);
        await page.evaluate(TWO_FRAMES);
      }
      await page.mouse.up();
      await row('Job 2/0').first().waitFor();
      expect(cursors).toEqual(['2']);
    });
  });

  it('reads nothing in a tab that nobody sees, and reads once when somebody sees it again', async () => {
    await visit.signIn('viewer', '/jobs');
    await page.locator('main:not(:has(.reading))').waitFor();
    const reads: string[] = [];
    page.on('request', (request) => reads.push(new URL(request.url()).pathname));
    // A browser without a window shows every tab; this is what a page can know of it.
    const showTab = (isShown: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperties(document, {
        hidden: { value: ${!isShown}, configurable: true },
        visibilityState: { value: '${isShown ? 'visible' : 'hidden'}', configurable: true },
      });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await showTab(false);
    const other = await visit.newTab('/jobs');
    reads.length = 0;
    await submit(19, ':put done', { description: 'Not seen yet' });
    await other.getByRole('row').filter({ hasText: 'Not seen yet' }).getByText('done', { exact: true }).waitFor();
    expect(reads).toEqual([]);
    await showTab(true);
    await page.getByRole('row').filter({ hasText: 'Not seen yet' }).getByText('done', { exact: true }).waitFor();
    expect(reads.filter((path) => path === '/api/jobs')).toHaveLength(1);
  });

  describe('a campaign', () => {
    it('whose answer was lost is not started twice, also when the question was closed meanwhile', async () => {
      await visit.signIn('operator', '/campaigns/new?q=router');
      await page.getByText('All of them answer now').waitFor();
      const name = `Once ${Date.now()}`;
      await page.getByLabel('What it does').fill(name);
      await page.getByRole('textbox', { name: 'Script' }).fill(':put [/system identity get name]');
      await page.getByRole('checkbox', { name: 'Take a backup first' }).uncheck();
      const dialog = page.getByRole('dialog');
      const start = async (): Promise<void> => {
        await button(`Start on ${ROUTERS} routers`).click();
        await dialog.getByLabel(`Type ${ROUTERS} to confirm`).fill(String(ROUTERS));
        await dialog.getByRole('button', { name: `Start on ${ROUTERS} routers` }).click();
      };
      await page.route('**/api/campaigns', async (route) => {
        if (route.request().method() === 'POST') await route.fetch();
        await route.abort();
      });
      await start();
      await dialog.getByText('It may have been done.').waitFor();
      await page.unroute('**/api/campaigns');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('It may have been done.').waitFor();
      await start();
      await page.getByRole('heading', { name: new RegExp(name) }).waitFor();
      const { body } = await world.caller.call<{ data: { id: string; description: string }[] }>('GET', '/api/campaigns');
      const made = body.data.filter(({ description }) => description === name);
      expect(made).toHaveLength(1);
      await world.caller.call('POST', `/api/campaigns/${made[0]!.id}/cancel`, {});
      visit.forgiveFailedRequests();
    });

    it('on more than twenty routers starts only after their number was typed, and runs through the list', async () => {
      await visit.signIn('operator', '/campaigns/new?q=router');
      await page.getByText(`All of them answer now`).waitFor();
      await page.getByLabel('What it does').fill('Names of all');
      await page.getByRole('textbox', { name: 'Script' }).fill(':put [/system identity get name]');
      await page.getByRole('checkbox', { name: 'Take a backup first' }).uncheck();
      await page.getByLabel('Begin per minute, at most').fill('');
      await button(`Start on ${ROUTERS} routers`).click();
      const dialog = page.getByRole('dialog');
      const start = dialog.getByRole('button', { name: `Start on ${ROUTERS} routers` });
      expect(await start.isDisabled()).toBe(true);
      await dialog.getByLabel(`Type ${ROUTERS} to confirm`).fill(String(ROUTERS));
      await start.click();
      await page.getByRole('heading', { name: /Names of all.*(runs|run|finished)/ }).waitFor();
      const list = page.getByRole('list', { name: /Targets: / });
      await list.getByRole('listitem').first().getByText('canary').waitFor();
      expect(await list.getByRole('listitem').count()).toBe(ROUTERS);
      await page.getByRole('group', { name: 'Routers by result' }).getByText('waiting').waitFor();
      await button('Cancel the campaign').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the campaign' }).click();
      await page.getByRole('heading', { name: /It was canceled/ }).waitFor();
    });
  });

  it('shows a campaign of two routers by name, with what each of them said, also on a phone', async () => {
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/campaigns', {
      ...JOB,
      script: ':put [/system identity get name]',
      router_ids: [ids[15], ids[16]],
    });
    await visit.signIn('viewer', `/campaigns/${body.data.id}`);
    const list = page.getByRole('list', { name: 'Targets: 2 done' });
    await list
      .getByRole('listitem')
      .filter({ hasText: /router-15.*done.*router-15/ })
      .waitFor();
    await list
      .getByRole('listitem')
      .filter({ hasText: /router-16.*done.*router-16/ })
      .waitFor();
    expect(await visit.violationsWideAndOnAPhone()).toEqual([]);
  });

  it('shows a campaign of many routers as a matrix', async () => {
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/campaigns', {
      ...JOB,
      script: ':put done',
      router_ids: [ids[15]],
    });
    await page.route('**/api/campaigns/*/targets**', async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: object[] };
      const targets = Array.from({ length: 31 }, (_, position) => ({ ...data[0], position, router_id: `${ids[15]}${position}` }));
      await route.fulfill({ response, json: { data: targets } });
    });
    await visit.signIn('viewer', `/campaigns/${body.data.id}`);
    await page.getByRole('img', { name: 'Targets: 31 done' }).waitFor();
  });

  describe('backups', () => {
    it('shows admins the schedule, and viewers no button', async () => {
      await visit.signIn('admin', `/routers/${ids[11]}/backups`);
      const way = page
        .getByRole('main')
        .getByRole('paragraph')
        .filter({ hasText: /^Routers \/ router-11$/ });
      await way.waitFor();
      await page.getByText('The router has answered').waitFor();
      await page.goto(page.url().replace('backups', 'terminal'));
      await way.waitFor();
      await page.goBack();
      await button('Set a time').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save the schedule' }).click();
      await page.getByText('Exported every night at').waitFor();
      await button('Remove').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('No schedule exports this router').waitFor();
    });
  });

  it('shows viewers no dead button', async () => {
    await visit.signIn('viewer', '/run');
    await page.getByText('People with the role operator run').waitFor();
    for (const path of ['/jobs', '/campaigns', `/routers/${ids[12]}/backups`]) {
      await visit.goto(path);
      await page.getByRole('main').getByRole('heading').first().waitFor();
      expect(await page.getByRole('main').locator('.btn').filter({ hasNotText: 'Copy' }).count(), path).toBe(0);
    }
  });

  it('has no violation that axe finds, in light and dark', async () => {
    const jobId = await submit(13, '/ip dns set servers=192.0.2.53\n:put done', { make_backup: true });
    await jobIs(13, jobId, ({ status }) => status === 'completed');
    await visit.signIn('admin');
    const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/campaigns');
    const paths = [
      '/run',
      '/run?routers=router-0&command=%2Fip%2Faddress%2Fadd',
      '/run?q=router&mode=script',
      '/jobs',
      '/jobs?q=status%3Aexpired',
      '/jobs?q=status%3Agone',
      `/jobs/${ids[13]}/${jobId}`,
      '/campaigns',
      '/campaigns/new',
      ...body.data.slice(0, 1).map(({ id }) => `/campaigns/${id}?show=done`),
      `/routers/${ids[13]}/backups`,
      `/routers/${ids[14]}/backups`,
      `/jobs/${ids[13]}/${ids[13]}`,
    ];
    for (const path of paths) {
      await visit.goto(path);
      await page.getByRole('main').getByText(/\w/).first().waitFor();
      expect(await visit.violationsInBothThemes(), path).toEqual([]);
    }
    // The answer about a job that is not there.
    visit.forgiveFailedRequests();
  });
});
