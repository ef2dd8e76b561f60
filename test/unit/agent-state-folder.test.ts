import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareStateFolder, tryStateFolder } from '../../agent/core/state-folder.ts';
import { asOrdinaryUser } from '../harness/unprivileged.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-state-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('the folder is created for its owner only', async () => {
  const state = path.join(folder, 'lib/agent');
  await prepareStateFolder(state);
  expect((await stat(state)).mode & 0o777).toBe(0o700);
});

describe('a test of the folder', () => {
  test('leaves nothing behind, whether the folder exists or not', async () => {
    await tryStateFolder(path.join(folder, 'lib/agent'));
    expect(await readdir(folder)).toEqual([]);
    await mkdir(path.join(folder, 'state'));
    await tryStateFolder(path.join(folder, 'state'));
    expect(await readdir(folder)).toEqual(['state']);
    expect(await readdir(path.join(folder, 'state'))).toEqual([]);
  });

  test('fails for a folder of another user', async () => {
    await chmod(folder, 0o555);
    await expect(asOrdinaryUser(() => tryStateFolder(folder))).rejects.toMatchObject({
      message: `state: ${folder} cannot be written: permission denied (EACCES)`,
    });
  });
});

test.each([
  ['to make', prepareStateFolder],
  ['to try', tryStateFolder],
])('a folder that is impossible %s is reported with the setting and the reason', async (_what, work) => {
  await chmod(folder, 0o555);
  const state = path.join(folder, 'agent');
  await expect(asOrdinaryUser(() => work(state))).rejects.toMatchObject({
    code: 'invalid',
    message: `state: ${state} cannot be written: permission denied (EACCES)`,
  });
});
