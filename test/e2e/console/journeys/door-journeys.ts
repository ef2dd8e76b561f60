import net from 'node:net';
import type { FrameLocator } from 'playwright-core';
import { expect } from 'vitest';
import { waitUntil } from '../../../harness/wait-until.ts';
import type { Journey } from './journey.ts';

/** What the other end says first. */
function firstBytes(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1'));
      socket.end();
    });
  });
}

const forward: Journey = {
  title: 'opens a forward for the own address, sends bytes through it, extends it and closes it',
  run: async ({ world, visit, page }) => {
    await world.routerIds();
    const button = (name: string) => page.getByRole('button', { name });
    await visit.signIn('operator', '/forwards');
    await page.getByText('No forwards are open').waitFor();
    await page.getByRole('link', { name: 'Open a forward' }).click();
    await page.getByLabel('Behind which router').fill('router-0');
    await page.getByRole('main').getByRole('link', { name: 'router-0' }).click();
    const from = page.getByLabel('Allow from');
    await waitUntil('the own address is filled in', async () => (await from.inputValue()) === '127.0.0.1');
    await page.getByLabel('Address', { exact: true }).fill('127.0.0.1');
    await page.getByLabel('Port').fill(String(world.simulators[0]!.sshPort));
    await button('Open the forward').click();
    await page.getByRole('heading', { name: /Open\. It admits 127\.0\.0\.1\/32/ }).waitFor();
    await page.getByText('direct: the agent dials the router itself').waitFor();
    await page.getByText(/^signalbox forward --router router-0 --to 127\.0\.0\.1:/).waitFor();

    const { body } = await world.caller.call<{ port: number }[] | { data: { port: number }[] }>('GET', '/api/transient-forwarding');
    const [{ port }] = ('data' in body ? body.data : body) as [{ port: number }];
    expect(await firstBytes(port)).toContain('SSH-2.0');
    await page.getByText(/1 so far/).waitFor();
    await page
      .getByText(/^127\.0\.0\.1(:\d+)?$/)
      .first()
      .waitFor();

    await button('Extend').click();
    await page.getByRole('dialog').getByLabel('From now on for').selectOption('1440');
    await button('Extend it').click();
    await page
      .getByRole('timer')
      .getByText(/^23:59:\d\d$/)
      .waitFor();

    await button('Close it now').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close it now' }).click();
    await page.getByRole('heading', { name: /Ended: closed by hand/ }).waitFor();
    expect(await page.getByText('Connect', { exact: true }).count()).toBe(0);
    await expect(firstBytes(port)).rejects.toThrow();
  },
};

const terminal: Journey = {
  title: 'opens a terminal with a reason, types, reads the answer, and ends it',
  world: { terminal: 'full' },
  run: async ({ world, visit, page }) => {
    const [routerId] = await world.routerIds();
    const frame = (): FrameLocator => page.frameLocator('iframe.terminal-screen');
    const sees = (text: string): Promise<void> => frame().locator('.xterm-rows').getByText(text).first().waitFor();
    await visit.signIn('operator', `/routers/${routerId}/terminal`);
    await page.getByLabel('Reason').fill('the uplink drops');
    await page.getByRole('button', { name: 'Open the terminal' }).click();
    await sees('[term-read@router-0] >');
    await page.getByText('Recorded', { exact: true }).waitFor();
    await page.getByText('the uplink drops').waitFor();
    await page.keyboard.type(':put "typed in the browser"\n');
    await sees('typed in the browser');
    await page.getByRole('button', { name: 'End the terminal' }).click();
    await page.getByText('The terminal has ended').waitFor();
    await page.getByText('its opener ended it').waitFor();
  },
};

export const DOOR_JOURNEYS = { forward, terminal };
