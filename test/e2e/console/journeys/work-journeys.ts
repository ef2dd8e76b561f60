import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { fastTime } from '../../../harness/fast-time.ts';
import { Stand } from '../../../harness/stand.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import type { Journey } from './journey.ts';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

const command: Journey = {
  title: 'runs a command that the menus complete, and reads its rows as a table',
  run: async ({ world, visit, page }) => {
    await world.routerIds();
    await visit.signIn('operator', '/run?routers=router-0');
    const box = page.getByRole('combobox', { name: 'Command' });
    await box.fill('/ip addr');
    await page.getByRole('option', { name: '/ip/address/print' }).waitFor();
    await box.press('Tab');
    await waitUntil('it is completed', async () => (await box.inputValue()) === '/ip/address/print');
    await box.press('Enter');
    await page.getByRole('cell', { name: '192.168.88.1/24' }).waitFor();
    await box.fill('');
    await box.press('ArrowUp');
    expect(await box.inputValue()).toBe('/ip/address/print');
  },
};

async function writeScript(page: Page, what: string, script: string): Promise<void> {
  await page.getByLabel('What it does').fill(what);
  await page.getByRole('textbox', { name: 'Script' }).fill(script);
}

const rollback: Journey = {
  title: 'locks itself out by a guarded script, watches the countdown, and the router undoes it',
  // Ten times as fast: the guard's seconds are the router's.
  world: { routers: [{ time: fastTime(10) }] },
  run: async ({ world, visit, page }) => {
    const [routerId] = await world.routerIds();
    await visit.signIn('operator', '/run?routers=router-0&mode=script');
    await writeScript(page, 'Only by winbox', '/ip service set api disabled=yes; /ip service set ssh disabled=yes');
    await page.getByRole('checkbox', { name: 'Take a backup first' }).uncheck();
    await page.getByRole('checkbox', { name: /Undo guard/ }).check();
    await page.getByLabel('Undo after, seconds').fill('100');
    await button(page, 'Run the script').click();
    await page.getByRole('timer', { name: 'Time left' }).waitFor();
    await page.getByRole('heading', { level: 1, name: /Only by winbox.*The router undid it/ }).waitFor();
    await page.getByRole('table', { name: 'Timeline' }).getByText('the router undid it').waitFor();
    await waitUntil('the router answers again', async () => (await world.routerIds())[0] === routerId);
    expect(world.simulators[0]!.executions.filter(({ kind }) => kind === 'script')).toHaveLength(1);
  },
};

const unknown: Journey = {
  title: 'reads what is certain and what is not when the agent was killed while its script ran',
  world: { routers: [] },
  run: async ({ world, visit, page }) => {
    const stand = await Stand.start(world, 'depot', { asProcess: true });
    try {
      await visit.signIn('operator', '/run?routers=depot&mode=script');
      await writeScript(page, 'A long way', '/ip firewall filter add chain=input action=accept\n:delay 600s');
      await page.getByRole('checkbox', { name: 'Take a backup first' }).uncheck();
      await page.getByRole('checkbox', { name: /Undo guard/ }).uncheck();
      await button(page, 'Run the script').click();
      await page.getByRole('heading', { level: 1, name: /A long way.*The script runs/ }).waitFor();
      await stand.program.kill();
      await page.getByText('waits for its agent').or(page.getByText('agent away')).first().waitFor();
      await stand.startProgram();
      await page.getByRole('heading', { level: 1, name: /Nobody knows the outcome/ }).waitFor();
      const known = page.getByRole('group', { name: 'What is known of the outcome' });
      await known.getByText('The agent stopped while the script ran').waitFor();
      await known.getByText('Whether line 1 took effect wholly, partly or not at all').waitFor();
      await known.getByText('It is never run again by itself').waitFor();
      expect(await button(page, /Retry/).count()).toBe(0);
      expect(stand.simulator.executions.filter(({ kind }) => kind === 'script')).toHaveLength(1);
    } finally {
      await stand.close();
    }
  },
};

const canary: Journey = {
  title: 'starts a campaign that its canary stops, and reads which router and why',
  world: { routers: [{}, {}, {}, {}] },
  run: async ({ world, visit, page }) => {
    await world.routerIds();
    await visit.signIn('operator', '/campaigns/new?q=router');
    await page.getByText('All of them answer now').waitFor();
    await writeScript(page, 'Stopped by its canary', ':error "no space left"');
    await page.getByRole('checkbox', { name: 'Take a backup first' }).uncheck();
    await button(page, 'Start on 4 routers').click();
    await page.getByRole('heading', { name: /It stopped itself/ }).waitFor();
    await page.getByRole('heading', { name: /3 were never started/ }).waitFor();
    const targets = page.getByRole('list', { name: 'Targets: 1 failed, 3 never started' }).getByRole('listitem');
    await targets.first().getByText('canary').waitFor();
    await targets.first().getByText('no space left').waitFor();
    expect(await targets.filter({ hasText: 'never started' }).count()).toBe(3);
    await page
      .getByText(/no space left/)
      .first()
      .waitFor();
    expect(await button(page, /Pause|Cancel|Go on/).count()).toBe(0);
    const ran = world.simulators.filter((simulator) => simulator.executions.some(({ kind }) => kind === 'script'));
    expect(ran).toHaveLength(1);
  },
};

const diff: Journey = {
  title: 'takes backups before and after a change, downloads one, and compares them in both views',
  run: async ({ world, visit, page }) => {
    const [routerId] = await world.routerIds();
    await visit.signIn('operator', `/routers/${routerId}/backups`);
    await page.getByText('No backup has been taken').waitFor();
    const exports = page.getByRole('button', { name: /^export/ });
    const take = async (count: number): Promise<void> => {
      await button(page, 'Take one now').click();
      await page.getByRole('dialog').getByRole('checkbox', { name: 'With the binary' }).uncheck();
      await page.getByRole('dialog').getByRole('button', { name: 'Take it' }).click();
      await exports.nth(count - 1).waitFor();
    };
    await take(1);
    const changed = await world.caller.call('POST', `/api/synchronous/${routerId}`, {
      command: '/ip/dns/set',
      parameters: 'servers=192.0.2.53',
    });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    await take(2);
    const [file] = await Promise.all([page.waitForEvent('download'), exports.first().click()]);
    expect(file.suggestedFilename()).toMatch(/^router-0-.*-export\.rsc$/);
    await button(page, 'Compare the two newest').click();
    const differences = page.getByRole('group', { name: 'Differences' });
    await differences.getByText(/set servers=192\.0\.2\.53/).waitFor();
    await page.getByRole('link', { name: 'Side by side' }).click();
    await differences.getByText(/set servers=192\.0\.2\.53/).waitFor();
    expect(new URL(page.url()).search).toBe('?view=sides');
  },
};

export const WORK_JOURNEYS = { command, rollback, unknown, canary, diff };
