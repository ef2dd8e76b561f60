import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { freePort } from '../harness/installation.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/**
 * A terminal signals everybody in it: the program, and the wrapper that has started it and passes the signal on. The
 * program is told twice and must still end in good order.
 */
let folder: string;
let program: Program | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-end-'));
});
afterEach(async () => {
  await program?.stop();
  await rm(folder, { recursive: true, force: true });
});

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

test.each(signals)('npx signalbox serve ends in good order with %s', async (signal) => {
  const port = await freePort();
  program = new Program('bin/signalbox.mjs', ['serve'], {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: `sqlite:${path.join(folder, 'signalbox.db')}`,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
  });
  program.start({ group: true });
  await waitUntil('it answers', async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok);
  program.signalGroup(signal);
  expect(await program.ended()).toBe(0);
  expect(program.output).not.toContain('second');
});

test.each(signals)('npx signalbox-agent run ends in good order with %s', async (signal) => {
  const server = `http://127.0.0.1:${await freePort()}`;
  const credentials = path.join(folder, 'credentials.json');
  await writeFile(credentials, JSON.stringify({ server, agent_id: '01890000-0000-7000-8000-000000000000', secret: 'secret' }));
  const config = path.join(folder, 'agent.yaml');
  const routers = [{ name: 'edge', host: '127.0.0.1', api: { port: await freePort(), username: 'signalbox', password: 'secret' } }];
  await writeFile(config, stringify({ server, credentials, state: 'state', routers }));
  program = new Program('bin/signalbox-agent.mjs', ['run', '--config', config]);
  program.start({ group: true });
  await waitUntil('it dials', () => program?.output.includes('no connection to the control plane'));
  program.signalGroup(signal);
  expect(await program.ended()).toBe(0);
  expect(program.output).toContain(`"reason":"${signal}"`);
});
