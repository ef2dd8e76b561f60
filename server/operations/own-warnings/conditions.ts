import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import { LITTLE_SPACE_BYTES, RENEWAL_LATE_DAYS } from '../../platform/core/warning-levels.ts';

/** What the control plane finds about its own machine. */

const DAY_MS = 24 * 3_600_000;

/** What is wrong, without paths: teams read it. Null: nothing. */
export type Conditions = Readonly<Record<'certificate' | 'disk', Cause | null>>;

/** @throws when a file cannot be read */
export async function readConditions({ tls, databaseUrl }: Pick<Config, 'tls' | 'databaseUrl'>, now: number): Promise<Conditions> {
  return { certificate: tls === null ? null : await certificateOf(tls.certFile, now), disk: await diskOf(databaseUrl) };
}

async function certificateOf(file: string, now: number): Promise<Cause | null> {
  const { validTo } = new X509Certificate(await readFile(file));
  const at = Date.parse(validTo);
  const days = Math.floor((at - now) / DAY_MS);
  if (days >= RENEWAL_LATE_DAYS) return null;
  return { code: days < 0 ? 'certificate_ended' : 'certificate_ends', at };
}

/** Of a SQLite database; PostgreSQL watches its own disk. */
async function diskOf(databaseUrl: string): Promise<Cause | null> {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  if (file === undefined) return null;
  const { bavail, bsize } = await statfs(path.dirname(path.resolve(file)));
  const free = bavail * bsize;
  return free < LITTLE_SPACE_BYTES ? { code: 'server_disk', megabytes: Math.floor(free / 1024 ** 2) } : null;
}
