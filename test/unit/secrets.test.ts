import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSecrets } from '../../server/platform/storage/secrets.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-secrets-'));
  file = path.join(folder, 'deep', 'secret.key');
});
afterEach(() => rm(folder, { recursive: true }));

test('the first start creates the file, readable by its owner only, and the next one reads it', async () => {
  const first = await openSecrets(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const sealed = await first.encrypt('webhook', 'whsec_abc');
  const second = await openSecrets(file);
  expect(await second.decryptText('webhook', sealed)).toBe('whsec_abc');
  expect(await readdir(path.dirname(file))).toEqual(['secret.key']);
});

test('programs that start at once agree on one key', async () => {
  const [one, two] = await Promise.all([openSecrets(file), openSecrets(file)]);
  expect(await two.decryptText('x', await one.encrypt('x', 'shared'))).toBe('shared');
});

test('bytes are decrypted unchanged, and the same text never encrypts to the same value', async () => {
  const secrets = await openSecrets(file);
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
  expect(Buffer.from(await secrets.decrypt('backup', await secrets.encrypt('backup', bytes))).equals(bytes)).toBe(true);
  expect(await secrets.encrypt('x', 'same')).not.toBe(await secrets.encrypt('x', 'same'));
});

test('a secret decrypts only for its own purpose, and only unchanged', async () => {
  const secrets = await openSecrets(file);
  const sealed = await secrets.encrypt('webhook', 'abc');
  await expect(secrets.decrypt('login', sealed)).rejects.toMatchObject({ code: 'internal' });
  const parts = sealed.split('.');
  parts[3] = parts[3]!.startsWith('A') ? `B${parts[3]!.slice(1)}` : `A${parts[3]!.slice(1)}`;
  await expect(secrets.decrypt('webhook', parts.join('.'))).rejects.toMatchObject({ code: 'internal' });
});

test('a new first key encrypts, the old one still decrypts; without it the error names the missing key', async () => {
  const sealed = await (await openSecrets(file)).encrypt('x', 'old');
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: { kid: string }[] };
  const added = { kty: 'oct', kid: 'new', k: Buffer.alloc(32, 7).toString('base64url') };
  await writeFile(file, JSON.stringify({ keys: [added, ...keys] }));
  expect(await (await openSecrets(file)).decryptText('x', sealed)).toBe('old');
  await writeFile(file, JSON.stringify({ keys: [added] }));
  await expect((await openSecrets(file)).decrypt('x', sealed)).rejects.toThrow(keys[0]!.kid);
});

test.each(['', 'not json', '{"keys":[]}', '{"keys":[{"kty":"oct","kid":"a","k":"c2hvcnQ"}]}'])(
  'a file that holds %j is refused and kept',
  async (text) => {
    const broken = path.join(folder, 'broken.key');
    await writeFile(broken, text);
    await expect(openSecrets(broken)).rejects.toMatchObject({ code: 'invalid' });
    expect(await readFile(broken, 'utf8')).toBe(text);
  },
);
