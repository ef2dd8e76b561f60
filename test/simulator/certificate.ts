import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Certificate } from './api/server.ts';

const run = promisify(execFile);

/**
 * A certificate for 127.0.0.1 signed by itself, made by the `openssl` program: Node cannot make one.
 * Rejects when there is no openssl; pass `tls: {cert, key}` then.
 */
export async function createSelfSigned(commonName: string): Promise<Certificate> {
  const folder = await mkdtemp(path.join(tmpdir(), 'simulator-tls-'));
  try {
    const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
    await run(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '3650',
        '-keyout',
        key,
        '-out',
        cert,
        '-subj',
        `/CN=${commonName.replace(/[^\w.-]/g, '_')}`,
        '-addext',
        'subjectAltName=IP:127.0.0.1,DNS:localhost',
      ],
      { timeout: 20_000 },
    );
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
