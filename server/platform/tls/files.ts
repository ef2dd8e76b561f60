import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AppError } from '../core/errors.ts';

const CERT = 'SIGNALBOX_TLS_CERT_FILE';
const KEY = 'SIGNALBOX_TLS_KEY_FILE';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

/** PEM. */
export interface TlsPair {
  cert: Buffer;
  key: Buffer;
}

/**
 * Reads and validates the certificate and its key: Node's own error messages name neither file nor setting.
 * @throws AppError `invalid` naming the setting, the file and the reason
 */
export async function readTlsFiles({ certFile, keyFile }: TlsFiles): Promise<TlsPair> {
  const [cert, key] = await Promise.all([read(CERT, certFile), read(KEY, keyFile)]);
  const certificate = parse(() => new X509Certificate(cert), CERT, certFile, 'holds no certificate in PEM form');
  const privateKey = parse<KeyObject>(
    () => createPrivateKey(key),
    KEY,
    keyFile,
    'holds no private key in PEM form that can be read without a passphrase',
  );
  if (!certificate.checkPrivateKey(privateKey)) throw mistake(KEY, keyFile, `is not the key of the certificate in ${certFile}`);
  return { cert, key };
}

async function read(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw mistake(setting, file, `cannot be read: ${(error as Error).message}`, error);
  }
}

function parse<T>(make: () => T, setting: string, file: string, reason: string): T {
  try {
    return make();
  } catch (error) {
    throw mistake(setting, file, reason, error);
  }
}

function mistake(setting: string, file: string, reason: string, cause?: unknown): AppError {
  return new AppError('invalid', `${setting}: ${file} ${reason}`, { cause });
}
