/** Binary backups: real snapshots behind RouterOS's own magic numbers, with real encryption where one is asked for. */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';

const PLAIN = Buffer.from([0x88, 0xac, 0xa1, 0xb1]);
const ENCRYPTED = Buffer.from([0xef, 0xa8, 0x91, 0x72]);
const SALT_BYTES = 32;

function keyAndIv(password: string, salt: Buffer): [Buffer, Buffer] {
  const derived = scryptSync(password, salt, 48, { N: 1024 });
  return [derived.subarray(0, 32), derived.subarray(32)];
}

export function packBackup(configuration: string, password: string | undefined): Buffer {
  const body = deflateSync(configuration);
  if (password === undefined || password === '') return Buffer.concat([PLAIN, body]);
  const salt = randomBytes(SALT_BYTES);
  const cipher = createCipheriv('aes-256-cbc', ...keyAndIv(password, salt));
  return Buffer.concat([ENCRYPTED, salt, cipher.update(body), cipher.final()]);
}

/** Undefined when this is no backup or the password is wrong. */
export function unpackBackup(file: Buffer, password: string): string | undefined {
  try {
    if (file.subarray(0, 4).equals(PLAIN)) return inflateSync(file.subarray(4)).toString('utf8');
    if (!file.subarray(0, 4).equals(ENCRYPTED)) return undefined;
    const decipher = createDecipheriv('aes-256-cbc', ...keyAndIv(password, file.subarray(4, 4 + SALT_BYTES)));
    return inflateSync(Buffer.concat([decipher.update(file.subarray(4 + SALT_BYTES)), decipher.final()])).toString('utf8');
  } catch {
    return undefined;
  }
}
