import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_VERSION } from '../../../server/version.ts';
import { isChromiumMissing } from '../../harness/chromium.ts';
import { Visit, launchChromium, startConsoleWorld } from '../../harness/console-browser.ts';
import { addUser } from '../../harness/identity/sign-in.ts';
import { freePort } from '../../harness/installation.ts';
import { OwnMachine, whyNoOwnMachine } from '../../harness/own-machine.ts';
import type { World } from '../../harness/world.ts';

/** A new user: from an empty team to a router's answer in the page, with what the page gives to copy and nothing else. */

const BUILD = fileURLToPath(new URL('../../../scripts/build-agent.ts', import.meta.url));

describe.skipIf(isChromiumMissing || whyNoOwnMachine() !== undefined)('with one copied command', () => {
  let folder: string;
  let world: World;
  let machine: OwnMachine;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-one-command-'));
    const built = path.join(folder, 'signalbox-agent.cjs');
    await promisify(execFile)(process.execPath, [BUILD, built], { timeout: 120_000 });
    const file = await readFile(built);
    const sha256 = createHash('sha256').update(file).digest('hex');
    const agentRelease = { version: SERVER_VERSION, sha256, bytes: file.length, file };
    world = await startConsoleWorld({
      overrides: { agentRelease },
      // The address in the browser is the one in the command.
      server: { SIGNALBOX_LISTEN: `127.0.0.1:${await freePort()}` },
      // The machine reaches the router by the usual port of SSH in life; here it is told.
      routers: [{ identity: 'gw-depot' }],
    });
    // The router is nobody's yet.
    await world.agent!.close();
    world.agent = undefined;
    const { teamId } = await world.addTeam('Newcomers');
    await addUser(world, 'new@example.org', 'admin', teamId);
    machine = await OwnMachine.start();
    await machine.write('/usr/local/bin/sudo', '#!/bin/sh\nexec "$@"\n', 0o755);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.close();
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('a router answers in the page', async () => {
    const visit = await Visit.start(browser, world);
    const { page } = visit;
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit.signInAs('new@example.org', '/');
    await page.getByLabel('Name of the agent').fill('depot');
    await page.getByRole('button', { name: 'Make the command' }).click();
    await page.getByRole('button', { name: 'Copy the lines', exact: true }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    // The simulated router listens at a port of its own.
    const command = `cd /root && ${copied.split('\n').join(' && ')} --ssh-port ${world.simulators[0]!.sshPort}`;
    const { code, output } = await machine.runOnTerminal(command, ['127.0.0.1', 'signalbox', 'router-password']);
    expect(code, output).toBe(0);
    await page.getByText('gw-depot answers.').waitFor();
    await page.getByRole('link', { name: 'run a command on it' }).click();
    await page.getByRole('combobox', { name: 'Command' }).fill('/system/identity/print');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'gw-depot' }).first().waitFor();
    await visit.end();
  });
});
