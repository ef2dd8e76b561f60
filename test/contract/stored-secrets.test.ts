import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { ProviderKeyring } from '../../server/access/identity/keys/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { forgetSecrets, openSecretsOf } from '../../server/platform/storage/stored-secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';

describeEachDatabase('the secret key file of a database', (open) => {
  let storage: Storage;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    storage = await open();
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-secrets-'));
    file = path.join(folder, 'secret.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** What the first start of a server stores. */
  async function startOnce(): Promise<void> {
    await new ProviderKeyring({ storage, clock: systemClock, secrets: await openSecretsOf(storage, file) }).load();
  }

  test('is made for a database that holds no secret', async () => {
    await openSecretsOf(storage, file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('opens the secrets of its database again', async () => {
    await startOnce();
    await startOnce();
  });

  test('that is missing while the database holds secrets is named, and no new one is written', async () => {
    await startOnce();
    await rename(file, `${file}.lost`);
    await expect(openSecretsOf(storage, file)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(`${file} is missing`),
    });
    expect(await readdir(folder)).toEqual(['secret.key.lost']);
  });

  test('of another database is refused', async () => {
    await startOnce();
    await rename(file, `${file}.own`);
    const empty = await open();
    await openSecretsOf(empty, file);
    await expect(openSecretsOf(storage, file)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('is not the secret key file of this database'),
    });
  });

  test('that is lost for good: what it opened is forgotten, and a new one is made', async () => {
    await startOnce();
    await rm(file);
    expect(await forgetSecrets(storage, 1)).toMatchObject({
      signingKeys: expect.any(Number),
      webhookSecrets: 0,
      backups: 0,
      recordings: 0,
    });
    await startOnce();
  });
});
