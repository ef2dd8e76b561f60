import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { compactDecrypt, CompactEncrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { MAX_BACKUP_BYTES } from '../../protocol/index.ts';
import { decryptJwe, encryptJwe } from '../../server/platform/storage/jwe.ts';

const key = randomBytes(32);
const header = { kid: 'one', purpose: 'test' };
const keyOf = (): Uint8Array => key;
const byJose = (plain: Uint8Array, extra: object = {}): Promise<string> =>
  new CompactEncrypt(plain).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...header, ...extra }).encrypt(key);

describe('an encrypted text', () => {
  test.each([0, 1, 2, 3, 1000])('of %i bytes is the same to jose, both ways', async (length) => {
    const plain = randomBytes(length);
    const { plaintext, protectedHeader } = await compactDecrypt(await encryptJwe(key, header, plain), key);
    expect(Buffer.from(plaintext).equals(plain)).toBe(true);
    expect(protectedHeader).toEqual({ alg: 'dir', enc: 'A256GCM', ...header });
    const read = await decryptJwe(await byJose(plain), keyOf);
    expect(read).toMatchObject(header);
    expect(Buffer.from(read.plain).equals(plain)).toBe(true);
  });

  test('never uses the same initialisation vector twice', async () => {
    const made = await Promise.all(Array.from({ length: 50 }, () => encryptJwe(key, header, Buffer.from('x'))));
    expect(new Set(made.map((jwe) => jwe.split('.')[2])).size).toBe(50);
  });

  test('is rejected when any part of it was changed, shortened or removed', async () => {
    const good = (await encryptJwe(key, header, randomBytes(100))).split('.');
    const other = (await encryptJwe(key, { ...header, purpose: 'else' }, randomBytes(100))).split('.');
    const broken = [0, 2, 3, 4].flatMap((part) => [
      good.with(part, other[part]!),
      good.with(part, good[part]!.slice(0, -4)),
      good.with(part, ''),
      good.toSpliced(part, 1),
    ]);
    for (const parts of [...broken, [...good, 'x'], good.with(1, 'x')])
      await expect(decryptJwe(parts.join('.'), keyOf), parts.join('.')).rejects.toThrow();
    await expect(decryptJwe(good.join('.'), () => randomBytes(32))).rejects.toThrow();
    expect((await decryptJwe(good.join('.'), keyOf)).plain).toHaveLength(100);
  });

  test.each([{ zip: 'DEF' }, { enc: 'A128GCM' }, { crit: ['exp'] }])('with the header %j is refused', async (extra) => {
    const [, ...rest] = (await encryptJwe(key, header, Buffer.from('x'))).split('.');
    const changed = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', ...header, ...extra })).toString('base64url');
    await expect(decryptJwe([changed, ...rest].join('.'), keyOf)).rejects.toThrow();
  });

  test('of the size of a backup does not block the event loop', async () => {
    const plain = randomBytes(MAX_BACKUP_BYTES);
    // Of this thread: the cipher runs in others. At most twice what it takes to turn the bytes into text and back, which `jose` does in
    // JavaScript: a processor that is shared with other programs slows both, so they take turns, and the best of each counts.
    const asText: number[] = [];
    const asJwe: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      asText.push(await busyMs(async () => Buffer.from(Buffer.from(plain).toString('base64url'), 'base64url')));
      asJwe.push(await busyMs(async () => decryptJwe(await encryptJwe(key, header, plain), keyOf)));
    }
    expect(Math.min(...asJwe)).toBeLessThan(2 * Math.min(...asText));
  });
});

/** Processor time of this thread, milliseconds. */
async function busyMs(run: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
