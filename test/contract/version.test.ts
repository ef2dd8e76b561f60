import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { AGENT_VERSION } from '../../agent/version.ts';
import { runCli } from '../../server/cli/run.ts';
import { SERVER_VERSION } from '../../server/version.ts';
import { World } from '../harness/world.ts';

test('both programs say the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect([AGENT_VERSION, SERVER_VERSION]).toEqual([version, version]);
});

test('/healthz tells the version that `signalbox --version` prints', async () => {
  const world = await World.start({ routers: [] });
  try {
    const { version } = (await (await fetch(`${world.server.url}/healthz`)).json()) as { version: string };
    let printed = '';
    await runCli(['--version'], { stdout: (text) => void (printed += text), stderr: () => {}, env: {} });
    expect(printed).toBe(`signalbox ${version}\n`);
  } finally {
    await world.close();
  }
});
