import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { compilePrograms } from '../../scripts/build-package/build.ts';

/** What `npm pack` takes. test/e2e/package.test.ts installs it. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-programs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('package.json names exactly the packages that the programs of the package import', async () => {
  await compilePrograms(folder);
  const { zod, ...others } = packageFile.dependencies;
  await expect(compilePrograms(folder, others)).rejects.toThrow('imported, but not in dependencies of package.json: zod');
  const more = { ...others, zod, ssh2: '1.17.0' };
  await expect(compilePrograms(folder, more)).rejects.toThrow('only bundled or not used: ssh2');
});

test('`npm pack` builds before it packs, and packs what was built', () => {
  expect(packageFile.scripts.prepack).toBe('node scripts/bootstrap.mjs build-package');
  const taken = packageFile.files.map((name) => name.replace('signalbox-agent.*', 'signalbox-agent.cjs'));
  expect(taken).toEqual(expect.arrayContaining(['bin', 'dist/server', 'dist/client', 'dist/console', 'dist/signalbox-agent.cjs']));
});

test.each(['server', 'agent'])('the %s’s image holds the package and not the checkout', async (image) => {
  const text = await readFile(new URL(`../../docker/${image}.Dockerfile`, import.meta.url), 'utf8');
  const stages = text.split(/^(?=FROM )/m).filter((stage) => stage.startsWith('FROM '));
  expect(stages).toHaveLength(2);
  expect(stages[0]).toMatch(/^RUN npm pack --pack-destination \/package/m);
  const copied = [...stages[1]!.matchAll(/^COPY (.*)$/gm)].map(([, what]) => what!);
  expect(copied).toEqual([expect.stringMatching(/^--from=package \/package/)]);
});
