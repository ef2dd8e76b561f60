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

test('the newest version in the changelog is the one of the package', async () => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);
  expect(headings[0]).toBe('[Unreleased]');
  expect(headings[1]).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
  expect(headings[1]).toContain(`[${SERVER_VERSION}]`);
});

test('the changelog has only the sections of Keep a Changelog, and each of its lines is in one', async () => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  for (const version of changelog.split(/^## /m).slice(1)) {
    const [head = '', ...sections] = version.split(/^### /m);
    expect(head).not.toMatch(/^- /m);
    const names = sections.map((section) => section.split('\n')[0]!);
    expect(new Set(names).size, `${head.split('\n')[0]} has a section twice`).toBe(names.length);
    expect(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']).toEqual(expect.arrayContaining(names));
  }
});
