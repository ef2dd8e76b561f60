import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { inspectStorage } from '../../platform/storage/inspect.ts';
import type { Inspection } from '../../platform/storage/inspect.ts';
import { openStorage } from '../../platform/storage/open.ts';
import { readSecrets } from '../../platform/storage/secrets.ts';
import { keysInUse } from '../../platform/storage/stored-secrets.ts';
import { fail, ok, warn } from './types.ts';
import type { Finding } from './types.ts';
import { LITTLE_SPACE_BYTES } from '../../platform/core/warning-levels.ts';

/** More than the difference between two machines with NTP. */
const CLOCK_TOLERANCE_MS = 5000;

/** Checks the database, its secret key, and the clock against the newest time in the database. */
export async function checkDatabase(config: Config, deps: { clock: Clock; log: Log }): Promise<Finding[]> {
  let storage: Storage | undefined;
  try {
    storage = await openStorage(config.databaseUrl, deps);
    const inspection = await inspectStorage(storage);
    return [
      schemaFinding(storage, inspection),
      ...(await spaceFinding(config)),
      clockFinding(inspection, deps.clock.now()),
      await secretKeyFinding(config, storage, inspection),
    ];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return [fail('database', `${error instanceof Error ? error.message : String(error)}${cause}`)];
  } finally {
    await storage?.close();
  }
}

function schemaFinding({ engine }: Storage, { schema, programSchema }: Inspection): Finding {
  if (schema === 0) return ok('database', `${engine}, empty; the first start creates the tables`);
  if (schema === programSchema) return ok('database', `${engine}, schema ${schema}`);
  if (schema < programSchema)
    return ok('database', `${engine}, schema ${schema}; the next start migrates it to ${programSchema}; back it up first`);
  return fail(
    'database',
    `${engine}, schema ${schema}: a newer version of Signalbox has migrated it; this version supports schemas up to ${programSchema}`,
  );
}

async function spaceFinding({ databaseUrl }: Config): Promise<Finding[]> {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  if (file === undefined) return [];
  const { bavail, bsize } = await statfs(path.dirname(path.resolve(file)));
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1024 ** 2)} MB free for ${file}`;
  return [free < LITTLE_SPACE_BYTES ? warn('disk', `${text}; a full disk stops every write`) : ok('disk', text)];
}

/** A clock behind the newest stored time is or was wrong. A clock ahead looks the same as a server that was switched off. */
function clockFinding({ newestMoment }: Inspection, now: number): Finding {
  if (newestMoment === null || newestMoment <= now + CLOCK_TOLERANCE_MS) return ok('clock', new Date(now).toISOString());
  const behind = Math.round((newestMoment - now) / 1000);
  return warn('clock', `${new Date(now).toISOString()}, ${behind} s behind the newest time in the database: check NTP on this machine`);
}

async function secretKeyFinding({ secretKeyFile: file }: Config, storage: Storage, { schema }: Inspection): Promise<Finding> {
  const check = 'secret key';
  try {
    const secrets = await readSecrets(file);
    const needed = schema === 0 ? new Set<string>() : await keysInUse(storage.db);
    if (secrets === null) {
      return needed.size === 0
        ? ok(check, `the first start creates ${file}`)
        : fail(check, `${file} is missing; the secrets of this database cannot be decrypted without it`);
    }
    const unknown = [...needed].filter((kid) => !secrets.knows(kid));
    if (unknown.length > 0)
      return fail(check, `${file} lacks the key ${unknown.join(', ')} of this database: it belongs to another database`);
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) return warn(check, `other users can read ${file}: chmod 600 ${file}`);
    return ok(check, `${file}; keep a copy, separate from the backups of the database`);
  } catch (error) {
    return fail(check, error instanceof Error ? error.message : String(error));
  }
}
