import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import { LITTLE_SPACE_BYTES, RENEWAL_LATE_DAYS } from '../../platform/core/warning-levels.ts';

/** What the control plane finds about its own machine. */

const DAY_MS = 24 * 3_600_000;

/** What is wrong, without paths: teams read it. */
export type Conditions = Readonly<Record<'certificate' | 'disk', readonly Cause[]>>;

/** Of one control plane; `node` is the host of its address, for one of several. Null: it has no certificate. */
interface CertificateEnd {
  endsAt: number | null;
  node?: string;
}

/** @throws when a file cannot be read */
export async function readConditions(config: Pick<Config, 'tls' | 'databaseUrl'>, now: number): Promise<Conditions> {
  return { certificate: problemsOf([{ endsAt: await readCertificateEnd(config) }], now), disk: await diskOf(config.databaseUrl) };
}

/** @throws when the file cannot be read */
export async function readCertificateEnd({ tls }: Pick<Config, 'tls'>): Promise<number | null> {
  return tls === null ? null : Date.parse(new X509Certificate(await readFile(tls.certFile)).validTo);
}

/** Those that have ended or end soon. */
export function problemsOf(certificates: readonly CertificateEnd[], now: number): Cause[] {
  return certificates.flatMap(({ endsAt: at, node }) => {
    const days = at === null ? Infinity : Math.floor((at - now) / DAY_MS);
    if (at === null || days >= RENEWAL_LATE_DAYS) return [];
    return [{ code: days < 0 ? 'certificate_ended' : 'certificate_ends', at, ...(node === undefined ? {} : { node }) }];
  });
}

/** Of a SQLite database; PostgreSQL watches its own disk. */
async function diskOf(databaseUrl: string): Promise<Cause[]> {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  if (file === undefined) return [];
  const { bavail, bsize } = await statfs(path.dirname(path.resolve(file)));
  const free = bavail * bsize;
  return free < LITTLE_SPACE_BYTES ? [{ code: 'server_disk', megabytes: Math.floor(free / 1024 ** 2) }] : [];
}
