import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { AGENT_VERSION } from '../../agent/version.ts';
import { SERVER_VERSION } from '../../server/version.ts';

test('both programs say the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  expect([AGENT_VERSION, SERVER_VERSION]).toEqual([version, version]);
});
